"""The public files of the corpus: the good ones say what they must, the bad ones are refused with a reason."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from services.shared.errors import AcervoError
from services.shared.kinds import HEAD_SIZE, KINDS, agree
from services.shared.readers import Limits, Parsed, read

CORPUS = Path(__file__).parents[4].parent / "shared" / "corpus" / "dev"


def entries() -> list[dict[str, Any]]:
    manifest = CORPUS / "manifest.jsonl"
    if not manifest.exists():
        return []
    listed = [json.loads(line) for line in manifest.read_text("utf-8").splitlines()]
    return [entry for entry in listed if entry["format"] in KINDS]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def outcome(entry: dict[str, Any]) -> Parsed | AcervoError:
    data = (CORPUS / entry["file"]).read_bytes()
    try:
        return read(agree(entry["file"], "", data[:HEAD_SIZE]).name, data, Limits())
    except AcervoError as refusal:
        return refusal


def test_the_corpus_is_there() -> None:
    if not entries():
        pytest.skip(f"no corpus at {CORPUS}")


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: str(entry["file"]))
def test_a_public_file_reads_as_expected(entry: dict[str, Any]) -> None:
    expected = entry["expect"]
    result = outcome(entry)
    if expected.get("rejected") or expected.get("text_empty"):
        assert isinstance(result, AcervoError)
    elif isinstance(result, AcervoError):
        assert expected.get("no_crash"), result
    else:
        text = squeezed(result.text)
        assert [wanted for wanted in expected.get("contains", []) if squeezed(wanted) not in text] == []
        assert [unwanted for unwanted in expected.get("not_contains", []) if unwanted in text] == []
        assert len(result.pages) == expected.get("pages", len(result.pages))
