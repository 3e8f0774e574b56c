"""Office packages: zip archives of XML parts that name each other by relationships.

Nothing that an archive says of itself is believed: member names are only looked up, never written anywhere;
inflated bytes are counted as they come, whatever the headers say; XML with a document type is refused, so that
there are no entities to expand or to fetch.
"""

import io
import lzma
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Self

from lxml import etree

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers.result import Limits, ReadError

_ENCRYPTED = 0x1
_BLOCK = 1024 * 1024


class Package:
    """An Office package in memory. All parts together inflate to at most `limits.inflated` bytes.

    Raises:
        ReadError: FILE_CORRUPT, FILE_ENCRYPTED or DECOMPRESSION_BOMB, here and in every method.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise ReadError(pb.ERROR_REASON_FILE_CORRUPT) from error
        self._names = frozenset(self._zip.namelist())
        self._left = limits.inflated
        if len(self._zip.infolist()) > limits.members:
            raise ReadError(pb.ERROR_REASON_DECOMPRESSION_BOMB)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def main_part(self) -> str:
        """The name of the part that holds the document."""
        for kind, target in self.related(""):
            if kind == "officeDocument":
                return target
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT, "The package names no document.")

    def related(self, part: str) -> list[tuple[str, str]]:
        """What `part` (empty: the package) refers to inside the package: last word of the type, and part name."""
        folder, name = posixpath.split(part)
        listing = posixpath.join(folder, "_rels", f"{name}.rels")
        if listing not in self._names:
            return []
        found = []
        for element in self.elements(listing, depth=1):
            if element.get("TargetMode") == "External":
                continue
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip("/")
            if target in self._names:
                found.append((element.get("Type", "").rpartition("/")[2], target))
        return found

    def elements(self, part: str, *, depth: int) -> Iterator[etree._Element]:
        """Each element `depth` below the root of `part` as it is complete; it is emptied once the next is asked for.

        So the memory that a part takes is that of its largest such element.
        """
        source = _Part(self, part)
        events = etree.iterparse(
            source,
            events=("start", "end"),
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
            remove_comments=True,
            remove_pis=True,
        )
        level = -1
        try:
            for event, element in events:
                if event == "start":
                    level += 1
                    if level == 0 and element.getroottree().docinfo.doctype:
                        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT, "The file holds a document type.")
                    continue
                if level == depth:
                    yield element
                    _forget(element)
                level -= 1
        except etree.XMLSyntaxError as error:
            source.exhaust()
            raise ReadError(pb.ERROR_REASON_FILE_CORRUPT) from error

    def opened(self, part: str) -> IO[bytes]:
        """The bytes of `part` as they come out of the archive."""
        try:
            info = self._zip.getinfo(part)
            if info.flag_bits & _ENCRYPTED:
                raise ReadError(pb.ERROR_REASON_FILE_ENCRYPTED)
            return self._zip.open(info)
        except (zipfile.BadZipFile, KeyError, NotImplementedError, OSError, ValueError) as error:
            raise ReadError(pb.ERROR_REASON_FILE_CORRUPT) from error

    def count(self, inflated: int) -> None:
        """Take `inflated` bytes from what is left."""
        self._left -= inflated
        if self._left < 0:
            raise ReadError(pb.ERROR_REASON_DECOMPRESSION_BOMB)


class _Part:
    """A part as the XML parser reads it, each inflated byte counted."""

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self._stream = package.opened(part)

    def read(self, size: int = _BLOCK) -> bytes:
        """At most `size` bytes, however much they came from."""
        try:
            block = self._stream.read(size)
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError) as error:
            raise ReadError(pb.ERROR_REASON_FILE_CORRUPT) from error
        self._package.count(len(block))
        return block

    def exhaust(self) -> None:
        """Count the rest: a part on which the parser gave up may be a bomb, and is then called one."""
        while self.read():
            pass


def _forget(element: etree._Element) -> None:
    """Free `element` and what came before it beside it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
