"""The program of a parser process: reads jobs from its standard input until that ends.

`python -m services.ingest.pool.child PARENT MEMORY ORIGINAL PAGES CHUNKS`: the parent's process id, the bytes of
memory that files may take, and three open files that it shares with its parent: one to read, two to write.
"""

import os
import sys
from collections.abc import Iterator
from itertools import islice
from typing import IO

from acervo.common.v1 import error_reason_pb2 as pb
from services.ingest.pool import isolation
from services.ingest.pool.job import (
    READY,
    STARTED,
    Counts,
    Job,
    Refused,
    decode_job,
    encode_counts,
    encode_refusal,
    frame_size,
    pack,
    unpack,
)
from services.ingest.pool.records import write_chunks, write_pages
from services.ingest.splitter import split
from services.shared.errors import AcervoError, StorageFull, is_full
from services.shared.kinds import KINDS
from services.shared.readers import ReadError, read
from services.shared.readers.cleaning import is_visible

_MAX_CHUNKS = 250_000
_MAX_FILE_SIZE = 1 << 30
_PREFIX = 4


def main(arguments: list[str]) -> None:
    """Run until the parent closes the pipe, or until a file has used up the memory."""
    parent, memory, original, pages, chunks = (int(argument) for argument in arguments)
    requests, replies = _take_pipes()
    with open(original, "rb") as source, open(pages, "wb") as page_file, open(chunks, "wb") as chunk_file:  # noqa: PTH123 - these are descriptors
        isolation.limit(memory, _MAX_FILE_SIZE)
        held = isolation.isolate()
        isolation.die_with(parent)
        replies.write(pack([READY, held.network.encode(), held.files.encode()]))
        for strings in _frames(requests):
            replies.write(pack([STARTED]))
            try:
                source.seek(0)
                counts = _cut(decode_job(strings), source.read(), page_file, chunk_file)
                reply = encode_counts(counts)
            except AcervoError as error:
                reply = encode_refusal(Refused(error.reason, error.message))
            except OSError as error:
                if not is_full(error):
                    raise
                reply = encode_refusal(Refused(pb.ERROR_REASON_UNAVAILABLE, str(StorageFull())))
            except MemoryError:
                replies.write(encode_refusal(Refused(pb.ERROR_REASON_PARSE_MEMORY, "")))
                return
            replies.write(reply)


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes to the parent, moved away from where a library might print or read."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return requests, replies


def _frames(requests: IO[bytes]) -> Iterator[list[bytes]]:
    while prefix := requests.read(_PREFIX):
        yield unpack(requests.read(frame_size(prefix)))


def _cut(job: Job, data: bytes, page_file: IO[bytes], chunk_file: IO[bytes]) -> Counts:
    parsed = read(job.kind, data, job.limits)
    text = parsed.text
    spans = (
        span for span in split(text, job.chunk_size, job.chunk_overlap) if is_visible(text[slice(*span)])
    )
    for file in (page_file, chunk_file):
        file.seek(0)
        file.truncate()
    chunk_count = write_chunks(parsed, islice(spans, _MAX_CHUNKS + 1), chunk_file)
    if chunk_count > _MAX_CHUNKS:
        message = f"The file makes more than {_MAX_CHUNKS:,} chunks."
        raise ReadError(pb.ERROR_REASON_CONTENT_TOO_LARGE, message)
    write_pages(parsed.pages, page_file)
    for file in (page_file, chunk_file):
        file.flush()
    page_count = len(parsed.pages) if KINDS[job.kind].paged else 0
    return Counts(page_count, chunk_count, parsed.warnings)


if __name__ == "__main__":
    main(sys.argv[1:])
