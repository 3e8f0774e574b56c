"""A file's bytes are kept whole, hashed, and bounded."""

import hashlib
from collections.abc import AsyncGenerator

import pytest

from acervo.common.v1 import error_reason_pb2 as reasons
from services.shared.errors import AcervoError
from services.sync.staging import BLOCK, IN_MEMORY, staged


class Fetch:
    """A fetch that knows whether it was closed."""

    def __init__(self, *blocks: bytes) -> None:
        self.closed = False
        self._blocks = blocks

    async def run(self) -> AsyncGenerator[bytes, None]:
        try:
            for block in self._blocks:
                yield block
        finally:
            self.closed = True


@pytest.mark.parametrize("size", [0, 1, BLOCK, IN_MEMORY, IN_MEMORY + 1])
async def test_what_was_fetched_is_given_out_again_and_again(size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    async with staged(Fetch(content[: size // 2], content[size // 2 :]).run(), size) as kept:
        assert (kept.size, kept.sha256) == (size, hashlib.sha256(content).digest())
        assert b"".join(kept.blocks()) == b"".join(kept.blocks()) == content


async def test_a_fetch_that_outgrows_the_limit_is_stopped_and_closed() -> None:
    fetch = Fetch(b"x" * 10, b"x", b"never asked for")
    with pytest.raises(AcervoError) as refused:
        async with staged(fetch.run(), 10):
            pass
    assert refused.value.reason == reasons.ERROR_REASON_FILE_TOO_LARGE
    assert fetch.closed
