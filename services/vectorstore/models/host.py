"""The child process that hosts one model: reads requests from its standard input, answers on its standard output.

    python -m services.vectorstore.models.host MODEL

A process of its own, since tokenising holds Python's interpreter lock for milliseconds at a time, and since a fault
in a model's native code must not take the service along. It ends with its input, so that it never outlives its parent.

A request is a length (4 bytes, big-endian) and JSON: `{"query": "..."}` or `{"documents": ["...", ...]}`. An answer is
a length and the vectors as little-endian float32, one after the other. A model that fails ends the process.
"""

import json
import os
import struct
import sys
from typing import BinaryIO

LENGTH = struct.Struct(">I")
# Before numpy is imported: one process is one core's worth of work.
SINGLE_THREADED = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
}


def serve(name: str, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until their end."""
    from services.vectorstore.models import named

    model = named(name).load()
    while header := requests.read(LENGTH.size):
        request = json.loads(requests.read(LENGTH.unpack(header)[0]))
        if "query" in request:
            vectors = model.embed_query(request["query"])
        else:
            vectors = model.embed_documents(request["documents"])
        data = vectors.astype("<f4").tobytes()
        answers.write(LENGTH.pack(len(data)) + data)
        answers.flush()


def main() -> None:
    """Keep standard output for answers alone: what a library prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.argv[1], sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
