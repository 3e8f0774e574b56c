#!/usr/bin/env bash
# Generates the Python code of protos/ into the directory given.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1
google=$(python -c 'import pathlib, google.rpc; print(pathlib.Path(google.rpc.__path__[0]).parents[1])')
rm -rf "$target/acervo"
mkdir -p "$target"
find protos -name '*.proto' | LC_ALL=C sort | xargs python -m grpc_tools.protoc -I protos -I "$google" \
  --python_out="$target" --pyi_out="$target" \
  --grpc_python_out="$target" --mypy_grpc_out="quiet:$target"
# Files without a service have nothing to say about gRPC.
grep -L 'Servicer' "$target"/acervo/*/v1/*_pb2_grpc.py | sed -E 's/(.*)_grpc\.py$/\1_grpc.py\n\1_grpc.pyi/' | xargs rm -f
touch "$target/acervo/py.typed"
