"""The example documents are what their script writes, and hold the answers that `questions.json` promises."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pymupdf
import pytest

EXAMPLES = Path(__file__).parents[3] / "examples"
pdf_library: Any = pymupdf  # Has annotations in part only.
DOCUMENTS = EXAMPLES / "documents"


@pytest.fixture
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("examples_build", EXAMPLES / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page_texts(path: Path) -> list[str]:
    if path.suffix in {".md", ".txt"}:
        return [path.read_text("utf-8")]
    return [page.get_text() for page in pdf_library.open(path)]


def test_the_committed_documents_are_what_the_script_writes(build: ModuleType, tmp_path: Path) -> None:
    build.main(tmp_path)
    written = sorted(tmp_path.iterdir())
    assert [path.name for path in written] == ["library-handbook.pdf", "raeume-und-entgelte.docx"]
    for path in written:
        assert path.read_bytes() == (DOCUMENTS / path.name).read_bytes(), path.name


@pytest.mark.parametrize("entry", json.loads((EXAMPLES / "questions.json").read_text("utf-8")))
def test_each_question_is_answered_on_the_page_it_names(entry: dict[str, str | int | None]) -> None:
    texts = page_texts(DOCUMENTS / str(entry["file"]))
    page = entry["page"]
    text = texts[page - 1] if isinstance(page, int) else "".join(texts)
    assert str(entry["expect"]) in " ".join(text.split())
