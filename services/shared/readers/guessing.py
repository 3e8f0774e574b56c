"""Guesses the encoding of a text that does not say it: the one in which its letters and words are those of a language.

Each language is tried in each of its encodings. Western European text is by far the most frequent, so that another
encoding is taken only where its language fits clearly better.
"""

import io
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache

from services.shared.readers.alphabets import ALPHABETS, WESTERN, Alphabet

_SAMPLE = 64 * 1024
_BEFORE_IT = 200
_BEFORE = {WESTERN: 0.05} | dict.fromkeys(("iso8859_2", "iso8859_5", "cp850", "cp866", "mac_roman"), -0.1)
"""What an encoding has before the others, or they before it: some are frequent, and some are rare."""
_LEAST = 0.3

_SIGNS = frozenset("‘’‚“”„‹›«»–—…•€£§©®™°±·×´\u00a0№") | {*map(chr, range(0x2500, 0x25A0))}
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7af\uf900-\ufaff\uff00-\uff60]")
# Narrow kana, single jamo, private characters, controls: hardly any text has them, and many wrong readings do.
_NEVER = re.compile("[\ufffd\x80-\x9f\uff61-\uff9f\u3130-\u318f\ue000-\uf8ff]")
# Latin letters within words of another script that parts its words, and Hebrew letters that only end words within one.
_MIXED = re.compile("[a-zA-Z][\u0370-\u10ff]|[\u0370-\u10ff][a-zA-Z]|[ךםןףץ][א-ת]")
# Signs within a word that stand beside words elsewhere.
_MISPLACED = re.compile(r"(?<=[^\W\d_])[“”„‹›«»‚‘•©®™±─-▟](?=[^\W\d_])")
_WORD = re.compile(r"[^\W\d_]+")
_ABOVE_ASCII = re.compile(rb"[\x80-\xff]")
# Lines drawn across a page say nothing, however long. Pairs stay pairs: a letter may take two bytes.
_RULE = re.compile(rb"(([\x80-\xff])\2)\1+")


def guess(data: bytes) -> str:
    """Return the name of the encoding in which `data` is most likely a text; empty where it fits none."""
    sample = _sample(data)
    scores: dict[str, float] = {}
    for encoding in _encodings():
        seen = _Seen(sample.decode(encoding, "replace"))
        scores[encoding] = max(seen.fits(alphabet) for alphabet in _encodings()[encoding])
    best = max(scores, key=lambda encoding: scores[encoding] + _BEFORE.get(encoding, 0))
    return best if scores[best] >= _LEAST else ""


@cache
def _encodings() -> Mapping[str, list[Alphabet]]:
    found: dict[str, list[Alphabet]] = {}
    for alphabet in ALPHABETS:
        for encoding in alphabet.encodings:
            found.setdefault(encoding, []).append(alphabet)
    return found


def _sample(data: bytes) -> bytes:
    """The first lines that ASCII does not tell everything about, each from shortly before it stops to."""
    lines, left = [], _SAMPLE
    for line in io.BytesIO(data):
        if left <= 0:
            break
        if above := _ABOVE_ASCII.search(line):
            start = max(0, above.start() - _BEFORE_IT)
            lines.append(_RULE.sub(rb"\1", line[start : start + left].replace(b"\0", b"")))
            left -= len(lines[-1])
    return b"\n".join(lines)


class _Seen:
    """What a text is made of, counted once for all the languages that it may be in."""

    def __init__(self, text: str) -> None:
        words = Counter(_WORD.findall(text))
        self._characters = Counter(character for character in text if character >= "\x80")
        self._ascii = Counter(character for character in text.lower() if "a" <= character <= "z")
        self._words = Counter({word.lower(): count for word, count in words.items()})
        self._strange = sum(count for word, count in words.items() if _is_strange(word))
        self._strange += len(_MISPLACED.findall(text))
        self._count = max(1, words.total())
        above = sum(count for word, count in words.items() if not word.isascii())
        torn = sum(count for word, count in words.items() if _MIXED.search(word))
        self._is_torn = torn * 2 > above

    def fits(self, alphabet: Alphabet) -> float:
        """How well the text fits a language: up to 1 for its letters, and a little more for its words."""
        total = fitting = 0.0
        for character, count in self._characters.items():
            weight = count * (2 if _WIDE.match(character) else 1)
            total += weight
            fitting += weight * _worth(character, alphabet)
        if not total or self._is_torn:
            return 0.0
        known = sum(count for word, count in self._words.items() if word in alphabet.words)
        letters = max(1, self._ascii.total())
        foreign = sum(self._ascii[letter] for letter in alphabet.foreign)
        return (
            fitting / total
            + min(0.3, known / self._count)
            - min(0.3, 4 * foreign / letters)
            - self._strange / self._count
        )


def _worth(character: str, alphabet: Alphabet) -> float:
    """What one character above ASCII says for a language, from 1 to -2."""
    if character in alphabet.worth:
        return alphabet.worth[character]
    if character in _SIGNS:
        return 0.6
    if alphabet.first <= character <= alphabet.last:
        return 0.3
    return -2.0 if _NEVER.match(character) else -1.0


def _is_strange(word: str) -> bool:
    """Whether a word mixes cases, or Latin with other letters, as hardly any but wrong readings do."""
    if word.isascii():
        return False
    mixes_cases = word[1:] != word[1:].lower() and word != word.upper()
    return mixes_cases or _MIXED.search(word) is not None
