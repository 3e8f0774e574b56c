"""Which encoding the bytes of a text are in.

Tried in this order: a byte order mark; 16-bit text without one; UTF-8, which texts in
other encodings hardly ever happen to be; a declaration in the first lines (`coding: cp1250`, `charset=...`);
detection by what the characters would be.
"""

import codecs
import re

from charset_normalizer import from_bytes

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
_SAMPLE = 256 * 1024
_CANDIDATES = [
    *("gb18030", "cp932", "euc_jp", "cp949", "big5", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"),
    *("cp1250", "cp1252", "cp1254", "cp1257", "cp874"),
]
_LATIN = {
    "cp1252": "àâäãåæçéèêëîïíìñóôöòõøœùûüúßÀÂÄÃÅÆÇÉÈÊËÍÎÑÓÔÖÕØŒÚÜ¿¡«»ºª",
    "cp1250": "ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽőűŐŰöüÖÜäôâăîşţßŕĺľ",
    "cp1254": "çğıöşüâîûÇĞİÖŞÜ",
    "cp1257": "ąčęėįšųūžāēģīķļņõäöüĄČĘĖĮŠŲŪŽĀĒĢĪĶĻŅÕÄÖÜ",
}
"""What is usual in the languages of each Latin code page; the first of equals is taken."""
_USUAL = 0.7
_PUNCTUATION = "‘’“”„–—…•€§©®°·´\u00a0"


def decode(data: bytes) -> tuple[str, str]:
    """Return the text in `data` and the name of its encoding; undecodable bytes become U+FFFD.

    An empty name means that no encoding fits.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace"), encoding
    encoding = unmarked_utf16(data)
    if not encoding:
        if (text := _strictly(data, "utf-8")) is not None:
            return text, "utf-8"
        encoding = _declared(data) or _detected(data)
    return data.decode(encoding or "utf-8", "replace"), encoding


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


def _detected(data: bytes) -> str:
    sample = data[:_SAMPLE].replace(b"\0", b"")
    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    if best is not None and best.encoding not in _LATIN:
        return best.encoding
    return _detected_latin(sample)


def _detected_latin(sample: bytes) -> str:
    """The Latin code page of whose usual letters most of the bytes above ASCII are; empty if hardly any is."""
    high = bytes(byte for byte in sample if byte >= 0x80)

    def usual(encoding: str) -> float:
        letters = high.decode(encoding, "replace")
        return sum(c in _LATIN[encoding] or c in _PUNCTUATION for c in letters) / max(1, len(letters))

    best = max(_LATIN, key=usual)
    return best if high and usual(best) >= _USUAL else ""
