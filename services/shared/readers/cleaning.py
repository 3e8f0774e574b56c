"""The one door through which text leaves a reader: what PostgreSQL, protobuf and people cannot use is removed."""

import re

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r")) + b"\x7f"
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
# Not a blank, nor one of those that are drawn as nothing, nor the mark of what could not be read.
_VISIBLE = re.compile(
    r"[^\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ASCII_LINE_ENDS = ("\r", "\v", "\f")


def clean(text: str) -> tuple[str, int]:
    """Return `text` without NULs, other controls and lone surrogates, and how many of these there were.

    Every sort of line end becomes `\\n`; that is not counted.
    """
    raw = text.encode("utf-8", "ignore")
    kept = raw.translate(None, _CONTROLS).decode()
    removed = len(text) - len(kept)
    if not kept.isascii() or any(end in kept for end in _ASCII_LINE_ENDS):
        kept = _LINE_ENDS.sub("\n", kept)
    return kept, removed


def is_visible(text: str) -> bool:
    """Whether `text` holds anything that a person could read."""
    return _VISIBLE.search(text) is not None
