"""What a reader is shown of a passage first: the stretch that holds the most and rarest words of the question."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from services.vectorstore.terms import is_spaceless

EXCERPT = 600
"""Characters of an excerpt, at most."""

_MOST_BEGINNINGS = 24
_MOST_PLACES = 64
# An end is moved by so many characters at most to stand between words.
_SLACK = 40


class Excerpt(NamedTuple):
    """A part of a text, and from where to where, in the text, that goes which it is shown for."""

    text: str
    core: tuple[int, int]


class _Hit(NamedTuple):
    start: int
    end: int
    beginning: str


def excerpt(text: str, beginnings: Mapping[str, float], most: int = EXCERPT) -> Excerpt:
    """Return at most `most` characters of a text, given what the question's words begin with and what each is worth.

    The words found stand in the middle. Where none is found, the text's beginning is chosen.
    """
    first, last = _densest(sorted(_hits(text, beginnings, most)), beginnings, most)
    if len(text) <= most:
        return Excerpt(text, (first, last) if last else (0, len(text)))
    start = max(0, min(first - (most - (last - first)) // 2, len(text) - most))
    end = start + most
    if start:
        blank = text.find(" ", start - 1, min(start + _SLACK, first))
        start = start if blank < 0 else blank + 1
    if end < len(text):
        blank = text.rfind(" ", max(end - _SLACK, last, start + 1), end + 1)
        end = end if blank < 0 else blank
    return Excerpt(text[start:end], (first, last) if last else (start, end))


def _hits(text: str, beginnings: Mapping[str, float], most: int) -> Iterator[_Hit]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters are longer in lower case
        lowered = text
    dearest = sorted((one for one in beginnings if len(one) <= most), key=lambda one: -beginnings[one])[
        :_MOST_BEGINNINGS
    ]
    for beginning in dearest:
        anywhere = is_spaceless(beginning)
        place, found = lowered.find(beginning), 0
        while place >= 0 and found < _MOST_PLACES:
            if anywhere or _is_word(lowered, place, len(beginning)):
                found += 1
                yield _Hit(place, place + len(beginning), beginning)
            place = lowered.find(beginning, place + 1)


def _is_word(text: str, place: int, length: int) -> bool:
    """Say whether a word begins at a place of which so many characters may be the stem: after few, little follows."""
    if place and text[place - 1].isalnum():
        return False
    longest = place + length + max(0, 2 * (length - 2))
    return not text[place + length : longest + 1].isalnum() or longest >= len(text)


def _densest(hits: list[_Hit], worth: Mapping[str, float], most: int) -> tuple[int, int]:
    """Return where the first and the last hit of the best stretch start and end; each word counts once.

    Of several that are worth the same, the shortest is the best.
    """
    best, bounds = (0.0, 0), (0, 0)
    within: Counter[str] = Counter()
    first = 0
    for hit in hits:
        within[hit.beginning] += 1
        while hits[first].start < hit.end - most or within[hits[first].beginning] > 1:
            within[hits[first].beginning] -= 1
            first += 1
        value = sum(worth[beginning] for beginning, count in within.items() if count)
        rank = (value, hits[first].start - hit.end)
        if value and rank > best:
            best, bounds = rank, (hits[first].start, hit.end)
    return bounds
