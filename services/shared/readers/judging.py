"""Whether a text layer is text. Fonts without a table of characters, and bad recognition, leave only noise."""

import re
import unicodedata
from collections import Counter

_RUNS = re.compile(r"(\W)\1{2,}")
_CODES = re.compile(r"\(cid:\d+\)")
_NOISE = frozenset({"Cn", "Co", "Cs", "Cc"})
_SAMPLE = 20_000
_MIN_LENGTH = 20


def is_garbage(text: str) -> bool:
    """Whether most of `text` are glyphs without a meaning, or marks where words should be.

    With fewer than 20 marks and letters only the glyphs are judged. Leaders and rules (`.....`) count once, ornaments
    not at all.
    """
    seen = Counter("".join(_RUNS.sub(r"\1", _CODES.sub("\ufffd", text[:_SAMPLE])).split()))
    categories = Counter[str]()
    for character, count in seen.items():
        categories["Cn" if character == "\ufffd" else unicodedata.category(character)] += count
    noise = sum(categories[name] for name in _NOISE)
    if noise * 10 > seen.total() * 3:
        return True
    written = seen.total() - categories["So"]
    words = sum(count for name, count in categories.items() if name[0] in "LMN")
    return written >= _MIN_LENGTH and words * 10 < written * 3
