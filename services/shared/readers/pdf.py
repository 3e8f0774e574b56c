"""PDFs through PyMuPDF: page by page, paragraph by paragraph, in reading order. No text recognition.

PyMuPDF is AGPL and an extra of its own; without it every PDF is refused as READER_UNAVAILABLE.
"""

import importlib
import re
from typing import Any

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers.judging import is_garbage
from services.shared.readers.result import Limits, Page, Parsed, ReadError, ReadWarning

pymupdf: Any
try:
    pymupdf = importlib.import_module("pymupdf")
except ModuleNotFoundError:
    pymupdf = None
else:
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)

_HEADER, _HEADER_WITHIN = b"%PDF-", 1024
_TEXT_BLOCK = 0
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
_MISPLACED_STOP = re.compile(rf"^[^\S\n]*([.,:;!?]+)[^\S\n]*(?=[{_RTL}])(.*?)[^\S\n]*$", re.MULTILINE)
"""A right-to-left line whose closing mark comes out on its left, as if it were left-to-right."""

_HYPHENATED = re.compile(r"(?<![\w-])([^\W\d_]{2,})-[^\S\n]*\n([^\W\d_]{2,})")
"""A word that the end of a line parts. Words of several hyphens keep them, for one may be there on purpose."""


def read(data: bytes, limits: Limits) -> Parsed:
    """Read the text layer of a PDF. A page without usable text is empty, so that the others keep their numbers.

    Raises:
        ReadError: READER_UNAVAILABLE; FILE_ENCRYPTED if it opens with a password alone; FILE_CORRUPT if it has
            no pages or none that can be read; CONTENT_TOO_LARGE if it has too many.
        MemoryError: if MuPDF could not get the memory it wanted.
    """
    if pymupdf is None:
        raise ReadError(
            pb.ERROR_REASON_READER_UNAVAILABLE, "PDFs are not read here: PyMuPDF is not installed."
        )
    pages, unreadable, garbage = [], 0, 0
    with _opened(data, limits) as document:
        for number in range(1, document.page_count + 1):
            try:
                text = _text(document, number)
            except _failures() as failure:
                _raise_if_memory(failure)
                unreadable += 1
                text = ""
            if is_garbage(text):
                garbage += 1
                text = ""
            pages.append(Page(number, text))
    if unreadable == len(pages):
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT)
    return Parsed(tuple(pages), _warnings(unreadable, garbage))


def _opened(data: bytes, limits: Limits) -> Any:
    """MuPDF goes by content and reads more formats than PDF, so what is no PDF must not reach it."""
    if _HEADER not in data[:_HEADER_WITHIN]:
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT)
    try:
        document = pymupdf.open(stream=data, filetype="pdf")
        if not document.is_pdf:
            raise ReadError(pb.ERROR_REASON_FILE_CORRUPT)
        if document.needs_pass:
            raise ReadError(pb.ERROR_REASON_FILE_ENCRYPTED)
        count = document.page_count
    except _failures() as failure:
        _raise_if_memory(failure)
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT) from failure
    if count == 0:
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT, "The PDF has no pages.")
    if count > limits.pages:
        raise ReadError(
            pb.ERROR_REASON_CONTENT_TOO_LARGE, f"The PDF has {count:,} pages; {limits.pages:,} are taken."
        )
    return document


def _text(document: Any, number: int) -> str:
    """MuPDF's blocks are paragraphs, in the order in which the page draws them: column after column.

    Glyphs without a meaning come out as U+FFFD, for their numbers would look like text.
    """
    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    blocks = document[number - 1].get_text("blocks", flags=flags)
    text = "\n\n".join(block[4].strip() for block in blocks if block[6] == _TEXT_BLOCK)
    return _MISPLACED_STOP.sub(r"\2\1", _HYPHENATED.sub(_joined, text))


def _joined(parts: re.Match[str]) -> str:
    return parts[1] + parts[2] if parts[2].islower() else parts[0]


def _failures() -> tuple[type[Exception], ...]:
    """What MuPDF raises on damaged files."""
    return (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase)


def _raise_if_memory(failure: Exception) -> None:
    if "malloc" in str(failure) or "calloc" in str(failure) or "realloc" in str(failure):
        raise MemoryError from failure


def _warnings(unreadable: int, garbage: int) -> tuple[ReadWarning, ...]:
    found = []
    if unreadable:
        found.append(ReadWarning("pages_unreadable", f"Damaged pages were left out: {unreadable}."))
    if garbage:
        found.append(
            ReadWarning("text_layer_unusable", f"Pages whose text makes no sense were left out: {garbage}.")
        )
    return tuple(found)
