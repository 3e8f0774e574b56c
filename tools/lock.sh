#!/usr/bin/env bash
# Resolves pyproject.toml into locks with hashes and without the address of any index.
set -euo pipefail
cd "$(dirname "$0")/.."
for extra in local dev; do
  constraint=()
  if [[ $extra == dev ]]; then constraint=(--constraint requirements/local.txt); fi
  uv pip compile pyproject.toml --extra "$extra" "${constraint[@]}" --universal --python-version 3.11 --generate-hashes --no-config \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet -o "requirements/$extra.txt"
done
