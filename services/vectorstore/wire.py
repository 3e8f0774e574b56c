"""PostgreSQL's binary formats, written for many rows at once.

asyncpg encodes value by value; vectors and term lists are arrays here already, so their bytes are made by numpy and cut
up. Formats: `COPY ... (FORMAT binary)`, pgvector's `vector_recv` and `sparsevec_recv`, and `array_recv`.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from services.shared.db import Connection
from services.vectorstore.terms import DIMENSIONS, Ids

COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
COPY_TRAILER = struct.pack(">h", -1)

_EXTENSION_SCHEMA = "extensions"
_INT4_OID = 23


async def prepare(connection: Connection) -> None:
    """Let a connection take and give `vector` and `sparsevec` as their wire bytes.

    Statements are planned for the bases and terms that they are sent with: a plan made for any of them would read a
    whole table for one of its bases.
    """
    await connection.execute("SET plan_cache_mode = force_custom_plan")
    for kind in ("vector", "sparsevec"):
        await connection.set_type_codec(
            kind, schema=_EXTENSION_SCHEMA, encoder=bytes, decoder=bytes, format="binary"
        )


def vectors(rows: npt.NDArray[np.float32]) -> Iterator[bytes]:
    """Yield each row as a `vector`."""
    count, width = rows.shape
    encoded = np.empty((count, 4 + 4 * width), np.uint8)
    encoded[:, :4] = np.frombuffer(struct.pack(">hh", width, 0), np.uint8)
    encoded[:, 4:] = rows.astype(">f4").view(np.uint8).reshape(count, 4 * width)
    return _pieces(encoded.tobytes(), np.arange(count + 1) * (4 + 4 * width))


def sparse_vectors(
    offsets: npt.NDArray[np.int64], terms: Ids, weights: npt.NDArray[np.float32]
) -> Iterator[bytes]:
    """Yield a `sparsevec` for each stretch `offsets[i]` to `offsets[i + 1]` of ascending terms."""
    places = _pieces(terms.astype(">i4").tobytes(), offsets * 4)
    values = _pieces(weights.astype(">f4").tobytes(), offsets * 4)
    for place, value in zip(places, values, strict=True):
        yield struct.pack(">iii", DIMENSIONS, len(place) // 4, 0) + place + value


def sparse_vector(terms: Ids, weights: npt.NDArray[np.float32]) -> bytes:
    """Return one `sparsevec` of ascending terms."""
    return next(sparse_vectors(np.array([0, len(terms)]), terms, weights))


def integer_arrays(offsets: npt.NDArray[np.int64], terms: Ids) -> Iterator[bytes]:
    """Yield an `integer[]` for each stretch `offsets[i]` to `offsets[i + 1]`."""
    elements = np.empty((len(terms), 2), ">i4")
    elements[:, 0] = 4
    elements[:, 1] = terms
    for piece in _pieces(elements.tobytes(), offsets * 8):
        if piece:
            yield struct.pack(">iiiii", 1, 0, _INT4_OID, len(piece) // 8, 1) + piece
        else:
            yield struct.pack(">iii", 0, 0, _INT4_OID)


def _pieces(data: bytes, offsets: npt.NDArray[np.int64]) -> Iterator[bytes]:
    cuts: Sequence[int] = offsets.tolist()
    return (data[start:end] for start, end in pairwise(cuts))
