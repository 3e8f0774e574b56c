"""Markdown: the text as it is, marks and all, for they say what is a heading, a list, a table."""

from services.shared.readers.text import read

__all__ = ["read"]
