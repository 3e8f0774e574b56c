"""Where a text is cut: at paragraphs, then at lines, then at words, then between characters.

A window of `size` characters moves over the text. It is closed at the last paragraph break in it, or, where
it has none, at the last line break, the last blank (or mark that ends a clause, where no blanks are written),
or at its very end. A break counts only past the first quarter of what the window adds, so that a heading
before a long paragraph makes no chunk of its own; if that leaves nothing, any break is better than to cut a
word. Time is linear in the length of the text, whatever the text.
"""

from collections.abc import Iterator
from typing import NamedTuple

_OTHER_BREAKS = (("\t", 0), ("\u3000", 0), ("。", 1), ("！", 1), ("？", 1), ("；", 1), ("，", 1), ("、", 1))
"""What separates words besides the blank, with how many of its characters stay in the chunk that it ends."""
_STRIDE = 256
"""How many characters of a run of blanks are skipped at a time."""


class Span(NamedTuple):
    """A chunk as a half-open range of the text, in characters. Neither end is a blank."""

    start: int
    end: int


def split(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Cut `text` into chunks of at most `size` characters that together hold everything but blanks.

    A chunk repeats at most `overlap` characters of the one before it, from a line or word onwards, and never
    more than half a chunk, so that the chunks together are at most a small multiple of the text.

    Raises:
        ValueError: if `size` is below 2, or `overlap` is negative or not below `size`.
    """
    if size < 2 or not 0 <= overlap < size:
        raise ValueError("size is at least 2 and overlap below it")
    overlap = min(overlap, size // 2)
    length = len(text.rstrip())
    new = start = _skip_blanks(text, 0, length)
    while new < length:
        limit = start + size
        if limit >= length:
            yield Span(start, length)
            return
        end = _cut(text, new, limit)
        if text[end - 1].isspace():
            end = new + len(text[new:end].rstrip())
        yield Span(start, end)
        new = _skip_blanks(text, end, length)
        start = _overlap_start(text, max(start + 1, new - overlap), end, new) if overlap else new


def _skip_blanks(text: str, position: int, stop: int) -> int:
    """The first visible character from `position` on, `stop` if there is none before it."""
    while position < stop and text[position].isspace():
        run = text[position : min(position + _STRIDE, stop)]
        position += len(run) - len(run.lstrip())
    return position


def _cut(text: str, new: int, limit: int) -> int:
    """The end of a chunk that may reach `limit` and adds what follows `new`, a visible character."""
    quarter = new + (limit - new) // 4
    for low, high in ((quarter, limit), (new, quarter)):
        if (
            (end := text.rfind("\n\n", low, high + 2)) > low
            or (end := text.rfind("\n", low, high + 1)) > low
            or (end := text.rfind(" ", low, high + 1)) > low
            or (end := max([text.rfind(mark, low, high + 1 - n) + n for mark, n in _OTHER_BREAKS])) > low
        ):
            return end
    return limit


def _overlap_start(text: str, low: int, end: int, new: int) -> int:
    """Where the chunk starts that adds what follows `new` and may repeat from `low` up to `end`."""
    if low >= end:
        return new
    if not text[low - 1].isspace():
        line = text.find("\n", low, (low + end) // 2)
        word = line if line >= 0 else text.find(" ", low, end)
        low = max(low, word)
    return _skip_blanks(text, low, new)
