"""What every reader takes and gives."""

from dataclasses import dataclass, field

from services.shared.errors import AcervoError

PAGE_SEPARATOR = "\n"
"""What stands between two pages in a document's text. A break of pages reads as a break of lines."""

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may hold."""

    pages: int = 10_000
    """Highest number of pages."""
    characters: int = 60_000_000
    """Highest number of characters of text."""
    inflated: int = 512 * _MIB
    """Highest number of bytes that are unpacked from a zip, counted as they come."""
    members: int = 20_000
    """Highest number of members of a zip."""


@dataclass(frozen=True, slots=True)
class Page:
    """The text of one page. `number` counts from 1; it is 0 where the kind has no pages."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """Something that was left out of, or changed in, a text that is usable all the same."""

    code: str
    """A lower-case word with underscores. Example: `characters_removed`."""
    message: str
    """One sentence."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file's text by page, with what was left out of it. At least one page has a visible character."""

    pages: tuple[Page, ...]
    warnings: tuple[ReadWarning, ...] = field(default=())

    @property
    def text(self) -> str:
        """The document's text, into which the positions of chunks point: its pages and what stands between."""
        return PAGE_SEPARATOR.join(page.text for page in self.pages)


class ReadError(AcervoError):
    """The file cannot be read, for the given reason. `message` is our own sentence, never a library's."""
