#!/usr/bin/env bash
# Resolves pyproject.toml into locks with hashes and without the address of any index: `local` for running everything
# here, `dev` for developing, `image` for the services alone, and `image-pdf` for them with PyMuPDF.
set -euo pipefail
cd "$(dirname "$0")/.."

lock() {
  local name=$1
  shift
  uv pip compile pyproject.toml "$@" --universal --python-version 3.11 --generate-hashes --no-config \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet -o "requirements/$name.txt"
}

services=()
for extra in access upload ingest vectorstore sync gateway migrate; do services+=(--extra "$extra"); done

lock local --extra local
lock dev --extra dev --constraint requirements/local.txt
lock image "${services[@]}" --constraint requirements/local.txt
lock image-pdf "${services[@]}" --extra pdf --constraint requirements/local.txt
