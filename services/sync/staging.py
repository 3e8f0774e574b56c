"""A file's bytes, fetched once and kept while they are compared and handed over."""

import hashlib
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import IO

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError

IN_MEMORY = 1024 * 1024
"""Bytes of one file that are kept in memory; a larger one goes to a temporary file."""
BLOCK = 256 * 1024


@dataclass(frozen=True, slots=True)
class Staged:
    """A file as it was when it was fetched, whatever becomes of it at the source."""

    size: int
    sha256: bytes
    _file: IO[bytes]

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes in blocks that suit an upload."""
        self._file.seek(0)
        while block := self._file.read(BLOCK):
            yield block


@asynccontextmanager
async def staged(blocks: AsyncGenerator[bytes, None], limit: int) -> AsyncIterator[Staged]:
    """Take in a file of at most `limit` bytes. Raises AcervoError (FILE_TOO_LARGE), or as `blocks` does."""
    digest = hashlib.sha256()
    size = 0
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        async with aclosing(blocks):
            async for block in blocks:
                size += len(block)
                if size > limit:
                    raise too_large(limit)
                digest.update(block)
                file.write(block)
        yield Staged(size, digest.digest(), file)


def too_large(limit: int) -> AcervoError:
    """The refusal of a file of more than `limit` bytes."""
    message = f"The file is larger than {limit // (1024 * 1024)} MB."
    return AcervoError(pb.ERROR_REASON_FILE_TOO_LARGE, message, metadata={"limit": str(limit)})
