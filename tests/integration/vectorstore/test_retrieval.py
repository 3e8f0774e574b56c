"""How well search finds, on small public sets: fusing must not lose what the better leg has found."""

from pathlib import Path

import pytest

from bench.retrieval import Figures, RetrievalSet, measure
from services.shared.db import Pool
from services.vectorstore.embedding import Embedders
from services.vectorstore.models import DEFAULT_MODEL, Space

SETS = Path(__file__).resolve().parents[4] / "shared" / "retrieval" / "sets"
QUESTIONS = 120
TOLERANCE = 0.005


async def figures(pool: Pool, embedders: Embedders, name: str, space: Space) -> Figures:
    path = SETS / f"{name}.json.gz"
    if not path.is_file():
        pytest.skip("no retrieval sets beside the clone")
    return await measure(pool, embedders, RetrievalSet.load(path, QUESTIONS), space)


@pytest.mark.parametrize("name", ["xquad-en", "xquad-de"])
async def test_words_find_what_stemmed_bm25_finds(pool: Pool, embedders: Embedders, name: str) -> None:
    measured = await figures(pool, embedders, name, Space("hashing-256", 256))
    assert measured.lexical >= 0.93


async def test_question_in_another_language_leans_on_meaning(pool: Pool, embedders: Embedders) -> None:
    measured = await figures(pool, embedders, "xquad-es2en", Space(DEFAULT_MODEL, 512))
    assert measured.vector > measured.lexical + 0.2
    assert measured.gain >= -TOLERANCE
