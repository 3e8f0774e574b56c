"""PostgreSQL's binary formats, against the decoders of pgvector's own package."""

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pgvector import SparseVector, Vector

from services.vectorstore import wire
from services.vectorstore.terms import DIMENSIONS

TERMS = st.lists(st.integers(1, DIMENSIONS - 1), unique=True, max_size=40).map(sorted)


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), min_size=1, max_size=5))
def test_vectors_are_as_pgvector_writes_them(rows: list[list[float]]) -> None:
    array = np.array(rows, np.float32)
    assert list(wire.vectors(array)) == [Vector(row).to_binary() for row in array]


@given(st.lists(TERMS, max_size=5))
def test_sparse_vectors_are_as_pgvector_writes_them(texts: list[list[int]]) -> None:
    offsets = np.cumsum([0, *map(len, texts)])
    terms = np.array([term for text in texts for term in text], np.uint32)
    weights = np.linspace(0.5, 2, len(terms), dtype=np.float32)
    expected = [
        SparseVector(dict(zip(text, weights[start:].tolist(), strict=False)), DIMENSIONS).to_binary()
        for text, start in zip(texts, offsets, strict=False)
    ]
    assert list(wire.sparse_vectors(offsets, terms, weights)) == expected


def test_integer_arrays_carry_each_element_with_its_length() -> None:
    first, second = wire.integer_arrays(np.array([0, 2, 2]), np.array([7, 9], np.uint32))
    assert first == struct.pack(">iiiii", 1, 0, 23, 2, 1) + struct.pack(">iiii", 4, 7, 4, 9)
    assert second == struct.pack(">iii", 0, 0, 23)
