"""16-bit text without a byte order mark: whether bytes are it, and in which order."""

import re

SAMPLE = 256 * 1024
"""How many of the first bytes are looked at."""
_BLANKS = "\n \u3001\u3002\uff0c"
_EAST_ASIAN = re.compile("[\\r\\n\\t -~\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_EAST_ASIAN_MARKS = re.compile("[\\n \u3000-\u30ff\uff00-\uffef]")


def unmarked_utf16(data: bytes) -> str:
    """`utf-16-le` or `utf-16-be` if `data` looks like it, else empty.

    Most scripts have a NUL in nearly every pair, on one side. East Asian text has few or none: there nearly every
    character must be East Asian, with the marks that such text has, which other bytes hardly ever happen to be.
    """
    sample = data[:SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    one_sided = max(even, odd) * 20 >= len(sample) and max(even, odd) > 10 * min(even, odd)
    encoding = (
        "utf-16-le" if _score(sample, "utf-16-le", odd) >= _score(sample, "utf-16-be", even) else "utf-16-be"
    )
    return encoding if one_sided or _is_east_asian(sample, encoding) else ""


def _score(sample: bytes, encoding: str, nuls: int) -> tuple[int, int]:
    """How well a byte order fits: line ends, blanks and commas first, then how much of ASCII there is."""
    text = sample.decode(encoding, "replace")
    return sum(text.count(blank) for blank in _BLANKS), nuls


def _is_east_asian(sample: bytes, encoding: str) -> bool:
    if sample.isascii():
        return False
    text = sample.decode(encoding, "replace")
    fitting, marks = len(_EAST_ASIAN.findall(text)), len(_EAST_ASIAN_MARKS.findall(text))
    return fitting > 0 and fitting * 20 >= len(text) * 19 and marks * 50 >= len(text)
