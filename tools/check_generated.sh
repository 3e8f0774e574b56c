#!/usr/bin/env bash
# Fails where gen/ is not what protos/ say.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tools/generate.sh "$fresh"
if ! diff -r --exclude=__pycache__ "$fresh/acervo" gen/acervo >&2; then
  echo 'gen/ does not match protos/: run make proto and commit the result' >&2
  exit 1
fi
