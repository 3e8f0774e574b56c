"""The one door through which text leaves a reader: what PostgreSQL, protobuf and people cannot use is removed."""

import re

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r")) + b"\x7f"
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
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
