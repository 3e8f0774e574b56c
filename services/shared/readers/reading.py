"""Which reader reads a kind, and what holds for the result of every one."""

from collections.abc import Callable, Iterable, Mapping

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.kinds import KINDS
from services.shared.readers import docx, markdown, pdf, text
from services.shared.readers.cleaning import clean, is_visible
from services.shared.readers.result import Limits, Page, Parsed, ReadError, ReadWarning

READERS: Mapping[str, Callable[[bytes, Limits], Parsed]] = {
    "docx": docx.read,
    "markdown": markdown.read,
    "pdf": pdf.read,
    "text": text.read,
}


def read(kind: str, data: bytes, limits: Limits) -> Parsed:
    """Read a file of the kind so named (a key of `services.shared.kinds.KINDS`).

    Raises:
        ReadError: with the reason FILE_ENCRYPTED, FILE_CORRUPT, NO_TEXT, DECOMPRESSION_BOMB, CONTENT_TOO_LARGE
            or READER_UNAVAILABLE.
        MemoryError: if the file wants more memory than the process may have.
    """
    return _finished(READERS[KINDS[kind].reader](data, limits), limits)


def _finished(parsed: Parsed, limits: Limits) -> Parsed:
    """`parsed` cleaned, bounded, and with text in it."""
    pages, removed = _cleaned(parsed.pages)
    if not any(page.text for page in pages):
        raise ReadError(pb.ERROR_REASON_NO_TEXT)
    if sum(len(page.text) for page in pages) > limits.characters:
        raise ReadError(
            pb.ERROR_REASON_CONTENT_TOO_LARGE,
            f"The file holds more than {limits.characters:,} characters of text.",
        )
    warnings = list(parsed.warnings)
    if removed:
        warnings.append(
            ReadWarning("characters_removed", f"Characters that are no text were removed: {removed}.")
        )
    return Parsed(pages, tuple(warnings))


def _cleaned(pages: Iterable[Page]) -> tuple[tuple[Page, ...], int]:
    kept, removed = [], 0
    for page in pages:
        text, count = clean(page.text)
        kept.append(Page(page.number, text if is_visible(text) else ""))
        removed += count
    return tuple(kept), removed
