VENV := .venv
PY := $(VENV)/bin/python

.PHONY: proto
proto: ## Regenerate gen/ from protos/.
	rm -rf gen/acervo
	$(PY) -m grpc_tools.protoc -I protos -I $$($(PY) -c 'import pathlib, google.rpc; print(pathlib.Path(google.rpc.__path__[0]).parents[1])') \
	  --python_out=gen --pyi_out=gen --grpc_python_out=gen --mypy_grpc_out=gen $$(find protos -name '*.proto' | sort)
