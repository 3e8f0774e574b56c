"""The readers of file formats: bytes in, text by page out.

Run them only inside the parser pool: a file may want any amount of time or memory, or kill the process.
"""

from services.shared.readers.reading import read
from services.shared.readers.result import Limits, Page, Parsed, ReadError, ReadWarning

__all__ = ["Limits", "Page", "Parsed", "ReadError", "ReadWarning", "read"]
