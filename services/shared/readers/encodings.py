"""Which encoding the bytes of a text are in.

Tried in this order: a byte order mark; the escapes of ISO-2022-JP; 16-bit text without a mark; UTF-8, which texts in
other encodings hardly ever happen to be; a declaration in the first lines (`coding: cp1250`, `charset=...`); UTF-8 with
a few damaged places; a guess by what the characters would be.
"""

import codecs
import re
from dataclasses import dataclass

from services.shared.readers.guessing import guess
from services.shared.utf16 import unmarked_utf16

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(
    rb"""(?:charset|coding)\s*[:=]\s*["']?((?:windows|cp|iso|latin|koi8|gb|big5|shift|s?jis|euc|mac|tis)[-\w]{0,20})""",
    re.IGNORECASE,
)
_DECLARED_WITHIN = 1024
_DAMAGED = 9
_SHIFTS = (b"\x1b$B", b"\x1b$@")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text as its bytes were read. Undecodable bytes are U+FFFD."""

    text: str
    encoding: str
    """Empty where none fits."""
    guessed: bool
    """Whether neither a mark, nor a declaration, nor the bytes themselves say that it is this encoding."""


def decode(data: bytes) -> Decoded:
    """Return the text in `data`, and what is known of its encoding."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(data[len(mark) :].decode(encoding, "replace"), encoding, guessed=False)
    if (text := _shifted(data)) is not None:
        return Decoded(text, "iso2022_jp", guessed=False)
    if encoding := unmarked_utf16(data):
        return Decoded(data.decode(encoding, "replace"), encoding, guessed=True)
    if (text := _strictly(data, "utf-8")) is not None:
        return Decoded(text, "utf-8", guessed=False)
    if encoding := _declared(data):
        return Decoded(data.decode(encoding, "replace"), encoding, guessed=False)
    text = data.decode("utf-8", "replace")
    if _is_mostly_valid(text):
        return Decoded(text, "utf-8", guessed=False)
    if encoding := guess(data):
        return Decoded(data.decode(encoding, "replace"), encoding, guessed=True)
    return Decoded(text, "", guessed=True)


def _is_mostly_valid(text: str) -> bool:
    """Whether hardly any of what is above ASCII is a replacement."""
    above = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") * _DAMAGED < above


def _shifted(data: bytes) -> str | None:
    """The text of the old Japanese mail encoding, which is ASCII with escapes between two alphabets."""
    return (
        _strictly(data, "iso2022_jp") if any(shift in data for shift in _SHIFTS) and data.isascii() else None
    )


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _declared(data: bytes) -> str:
    """The encoding that the first lines name, if Python knows it and the bytes are in it; else empty."""
    found = _DECLARATION.search(data, 0, _DECLARED_WITHIN)
    if not found:
        return ""
    encoding = found[1].decode("ascii", "replace").lower()
    return encoding if _strictly(data, encoding) is not None else ""
