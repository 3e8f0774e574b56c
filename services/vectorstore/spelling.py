"""One spelling of a text, and no more of it than whoever reads it can take."""

import unicodedata


def bounded(text: str, most: int) -> str:
    """Resolve ligatures and composed letters (NFKC) and return at most `most` bytes of that in UTF-8.

    A single character may stand for eighteen, so that the length of a text says nothing of the work that it makes.
    Lone surrogates, which no encoding can carry, are replaced.
    """
    text = text[:most]
    if text.isascii():
        return text
    encoded = unicodedata.normalize("NFKC", text).encode("utf-8", "replace")
    return encoded[:most].decode("utf-8", "ignore")
