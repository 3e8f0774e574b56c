"""Documents made up from a seed: distinct, of several kinds and sizes, so that every chunk can be told apart."""

import random
import zipfile
from pathlib import Path

_VOCABULARY = """
archive shelf catalogue reader loan paper ink binding vault index folio spine margin gloss codex quire vellum
estante lector préstamo papel tinta lomo códice Regal Leserin Ausleihe Papier Tinte Einband Blatt
"""
_WORDS = tuple(_VOCABULARY.split())
_DOCX_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
_DOCX_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_DOCX_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def write_corpus(folder: Path, count: int, seed: int) -> list[Path]:
    """Write `count` files into a folder: text, Markdown and docx, of one to forty paragraphs."""
    chooser = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    return [_write(folder, number, chooser) for number in range(count)]


def _write(folder: Path, number: int, chooser: random.Random) -> Path:
    paragraphs = [
        f"Document {number}, paragraph {part}: {' '.join(chooser.choices(_WORDS, k=60))}."
        for part in range(chooser.randint(1, 40))
    ]
    kind = ("txt", "md", "docx")[number % 3]
    path = folder / f"document-{number:04}.{kind}"
    if kind == "docx":
        _write_docx(path, paragraphs)
    else:
        heading = f"# Document {number}\n\n" if kind == "md" else ""
        path.write_text(heading + "\n\n".join(paragraphs), encoding="utf-8")
    return path


def _write_docx(path: Path, paragraphs: list[str]) -> None:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    document = f'<w:document xmlns:w="{_DOCX_NAMESPACE}"><w:body>{body}</w:body></w:document>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _DOCX_TYPES)
        archive.writestr("_rels/.rels", _DOCX_RELATIONS)
        archive.writestr("word/document.xml", document)
