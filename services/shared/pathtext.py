"""Names and paths of files as text, whatever bytes they are made of: different files never read the same.

A byte that is no UTF-8 is written `%` and two capital hexadecimal digits; so is the `%` of a name that reads like
that by itself. Everything else stands for itself, so that nearly every path is its own text.
"""

import os
import re

_WRITTEN = re.compile("[\udc80-\udcff]|%(?=25|[89A-F][0-9A-F])")
_READ = re.compile("%(25|[89A-F][0-9A-F])")


def path_text(path: str) -> str:
    """A path of the file system as text that can be sent, stored and shown. Example: `caf%E9.txt`."""
    text = os.fsencode(path).decode("utf-8", "surrogateescape")
    return _WRITTEN.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", text)


def path_of(text: str) -> str:
    """The path whose text this is."""
    written = _READ.sub(lambda found: _byte(int(found[1], 16)), text)
    return os.fsdecode(written.encode("utf-8", "surrogateescape"))


def _byte(value: int) -> str:
    return bytes([value]).decode("utf-8", "surrogateescape")
