"""What the lexical leg of search compares: stems of words, hashed to term ids.

A chunk's words are stemmed in the language that the chunk is in. A question is short, so its language is not trusted
alone: each of its words stands for its stems in every language that the searched chunks are in.
"""

import re
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

import numpy as np
import numpy.typing as npt
import Stemmer

from services.vectorstore.languages import LANGUAGES, UNKNOWN, VOTES
from services.vectorstore.spelling import bounded

DIMENSIONS = 1 << 24
"""Term ids are 1 to DIMENSIONS - 1. Two stems share an id once in some 16 million pairs, which does not matter."""

MAX_WORD = 64
"""Longer runs of letters are cut into words of so many characters."""

MAX_WORDS = 1024
"""Distinct words of a question that count: the first ones."""
_QUESTION_BYTES = 1 << 15

# Characters of a word that tell it from most others.
_TELLING = 4

# Votes that a chunk needs to speak for itself; with fewer it follows its document.
_CONFIDENT = 2.0
# Distinct words that are remembered; beyond, the memory starts afresh.
_REMEMBERED = 1 << 17

_WORD = re.compile(rf"\w{{1,{MAX_WORD}}}")
# Scripts written without spaces between words: Thai, kana, Han, Hangul. Each run becomes pairs of characters.
_SPACELESS = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")

Ids = npt.NDArray[np.uint32]
Votes = npt.NDArray[np.float32]


def words(text: str) -> list[str]:
    """Cut a text into words, in one spelling: case folded, ligatures and composed letters resolved."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    if not folded.isascii() and _SPACELESS.search(folded):
        return list(_words_and_pairs(folded))
    return _WORD.findall(folded)


def is_spaceless(word: str) -> bool:
    """Say whether a word is of a script without spaces between words."""
    return _SPACELESS.match(word) is not None


def _common_beginning(word: str, *stems: str) -> str:
    """Return what a word and its stems begin with, at least as much of the word as tells it from others."""
    for end in range(len(word), _TELLING, -1):
        if all(stem.startswith(word[:end]) for stem in stems):
            return word[:end]
    return word[:_TELLING]


def _words_and_pairs(folded: str) -> Iterable[str]:
    position = 0
    for run in _SPACELESS.finditer(folded):
        yield from _WORD.findall(folded, position, run.start())
        characters = run.group()
        yield from ("".join(pair) for pair in pairwise(characters)) if len(characters) > 1 else characters
        position = run.end()
    yield from _WORD.findall(folded, position)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The terms of a sequence of texts. Text `i` has the terms `offsets[i]` to `offsets[i + 1]`."""

    languages: npt.NDArray[np.int64]
    """Number of each text's language (`languages.LANGUAGES`, or `UNKNOWN`)."""
    lengths: npt.NDArray[np.int64]
    """Words of each text, repeats included."""
    offsets: npt.NDArray[np.int64]
    terms: Ids
    """Distinct within a text, ascending."""
    counts: npt.NDArray[np.int64]
    """How often each term occurs in its text."""
    votes: Votes
    """Votes for each language, of these texts and of those before them in the document."""


class _Numbers(dict[str, int]):
    """Gives each new word the next number."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self.words.append(word)
        return number


class Lexicon:
    """Turns texts into terms. Remembers the words that it met, since nearly all come again; not for several threads."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._stemmers = [Stemmer.Stemmer(name) for name in LANGUAGES]
        self._forget()

    def _forget(self) -> None:
        self._numbers = _Numbers()
        self._learnt = 0
        self._votes = np.zeros((0, len(LANGUAGES)), np.float32)
        # Term id of each word in each language; 0 where it was not needed yet.
        self._ids = np.zeros((len(LANGUAGES) + 1, 0), np.uint32)

    def analyse(self, texts: Sequence[str], before: Votes | None = None) -> Analysis:
        """Return the terms of a document's chunks, given in order; `before` are the votes of those that came before.

        A chunk whose words do not tell its language is taken to be in that of the document so far.
        """
        if len(self._numbers) > self._remembered:
            self._forget()
        listed = [words(text) for text in texts]
        lengths = np.fromiter(map(len, listed), np.int64, len(listed))
        numbers = np.fromiter(
            map(self._numbers.__getitem__, chain.from_iterable(listed)), np.int64, int(lengths.sum())
        )
        self._learn()
        owners = np.repeat(np.arange(len(listed)), lengths)
        votes = self._votes_of(numbers, lengths)
        whole = votes.sum(axis=0) if before is None else before + votes.sum(axis=0)
        usual = int(whole.argmax()) if whole.any() else UNKNOWN
        confident = votes.max(axis=1, initial=0.0) >= _CONFIDENT
        languages = np.where(confident, votes.argmax(axis=1), usual)
        ids = np.zeros(len(numbers), np.int64)
        for language in np.unique(languages):
            mine = languages[owners] == language
            ids[mine] = self._ids_of(numbers[mine], int(language))
        keys, counts = np.unique(owners * DIMENSIONS + ids, return_counts=True)
        offsets = np.searchsorted(keys, np.arange(len(listed) + 1) * DIMENSIONS)
        return Analysis(languages, lengths, offsets, (keys % DIMENSIONS).astype(np.uint32), counts, whole)

    def question(self, text: str, languages: Iterable[int]) -> tuple[Ids, ...]:
        """Return, for each distinct word of a question, its terms in the languages that the searched chunks are in.

        A question in none of these languages, and names in it, may still share word stems with them: it is tried in
        every language.
        """
        groups = dict.fromkeys(tuple(sorted(set(ids))) for ids in self._asked(text, languages)[2].tolist())
        return tuple(np.array(group, np.uint32) for group in groups)

    def beginnings(self, text: str, languages: Iterable[int]) -> dict[str, Ids]:
        """Return what words of a text begin with that share a term with a question's word, and that word's terms."""
        distinct, spoken, table = self._asked(text, languages)
        stemmed = [distinct, *(self._stemmers[number].stemWords(distinct) for number in spoken - {UNKNOWN})]
        return {
            _common_beginning(*spellings): ids
            for spellings, ids in zip(zip(*stemmed, strict=True), table, strict=True)
        }

    def _asked(self, text: str, languages: Iterable[int]) -> tuple[list[str], set[int], Ids]:
        """Return a question's distinct words, the languages to try, and each word's term in each of them."""
        if len(self._numbers) > self._remembered:
            self._forget()
        distinct = list(islice(dict.fromkeys(words(bounded(text, _QUESTION_BYTES))), MAX_WORDS))
        if not distinct:
            return [], set(), np.zeros((0, 1), np.uint32)
        numbers = np.fromiter(map(self._numbers.__getitem__, distinct), np.int64, len(distinct))
        self._learn()
        votes = self._votes[numbers].sum(axis=0)
        spoken = set(languages)
        if votes.any() and int(votes.argmax()) not in spoken:
            spoken = set(range(UNKNOWN + 1))
        spoken = spoken or {UNKNOWN}
        return distinct, spoken, np.stack([self._ids_of(numbers, one) for one in sorted(spoken)], axis=1)

    def _learn(self) -> None:
        """Make room for the new words and note which of them are function words."""
        met = self._numbers.words
        if len(met) > len(self._votes):
            more = max(len(met), 1024)
            self._votes = np.concatenate([self._votes, np.zeros((more, len(LANGUAGES)), np.float32)])
            self._ids = np.concatenate([self._ids, np.zeros((len(LANGUAGES) + 1, more), np.uint32)], axis=1)
        for number in range(self._learnt, len(met)):
            vote = VOTES.get(met[number])
            if vote is not None:
                self._votes[number] = vote
        self._learnt = len(met)

    def _votes_of(self, numbers: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Votes:
        """Return the votes of each text's words for each language."""
        sums = np.zeros((len(numbers) + 1, len(LANGUAGES)), np.float32)
        np.cumsum(self._votes[numbers], axis=0, out=sums[1:])
        ends = np.cumsum(lengths)
        votes: Votes = sums[ends] - sums[ends - lengths]
        return votes

    def _ids_of(self, numbers: npt.NDArray[np.int64], language: int) -> Ids:
        known = self._ids[language]
        ids: Ids = known[numbers]
        if not ids.all():
            missing = np.unique(numbers[ids == 0])
            listed = [self._numbers.words[number] for number in missing]
            stems = listed if language == UNKNOWN else self._stemmers[language].stemWords(listed)
            known[missing] = [zlib.crc32(stem.encode()) % (DIMENSIONS - 1) + 1 for stem in stems]
            ids = known[numbers]
        return ids
