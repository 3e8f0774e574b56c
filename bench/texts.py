"""The texts that are stored and searched: real ones where they are at hand, made-up ones elsewhere."""

import random
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ARCHIVE = Path(__file__).resolve().parents[2] / "shared" / "bench" / "docs.tar.gz"

_SYLLABLES = "ba cor den fil gra hor in ka lum mer nos pra qui ral sen tor ul ver wen zi"
_FUNCTION_WORDS = "the of and to in is that for with as it was on are be this by from or which"
_VOCABULARY = 6000
_PARAGRAPHS = (10, 40)
_SENTENCE_WORDS = (8, 20)
_QUESTION_WORDS = (4, 8)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts to choose from, and where they come from."""

    texts: Sequence[str]
    origin: str

    @classmethod
    def load(cls, seed: int) -> "Corpus":
        """Read the public texts beside the clone, or make up as many."""
        if _ARCHIVE.is_file():
            return cls(_read(_ARCHIVE), "200 texts of the Node.js and npm documentation")
        return cls(made_up(200, seed), "200 made-up texts")

    def document(self, number: int) -> str:
        """Return a text that no other number has."""
        return f"Document {number}.\n\n{self.texts[number % len(self.texts)]}"

    def questions(self, count: int, seed: int) -> list[str]:
        """Return questions: a few words that stand together somewhere in the texts."""
        chooser = random.Random(seed)
        return [self._question(chooser) for _ in range(count)]

    def _question(self, chooser: random.Random) -> str:
        words = chooser.choice(self.texts).split()
        start = chooser.randrange(len(words) - _QUESTION_WORDS[1])
        return " ".join(words[start : start + chooser.randint(*_QUESTION_WORDS)])


def _read(archive: Path) -> list[str]:
    with tarfile.open(archive) as files:
        members = sorted((member for member in files if member.isfile()), key=lambda member: member.name)
        contents = [file.read() for member in members if (file := files.extractfile(member)) is not None]
    return [content.decode() for content in contents]


def made_up(count: int, seed: int) -> list[str]:
    """Make texts whose words are as unevenly frequent as those of a language."""
    chooser = random.Random(seed)
    syllables = _SYLLABLES.split()
    rare = ["".join(chooser.choices(syllables, k=chooser.randint(2, 4))) for _ in range(_VOCABULARY)]
    vocabulary = [*_FUNCTION_WORDS.split(), *rare]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]

    def sentence() -> str:
        words = chooser.choices(vocabulary, weights, k=chooser.randint(*_SENTENCE_WORDS))
        return f"{' '.join(words).capitalize()}."

    def paragraph() -> str:
        return " ".join(sentence() for _ in range(4))

    return ["\n\n".join(paragraph() for _ in range(chooser.randint(*_PARAGRAPHS))) for _ in range(count)]
