"""What a file's first bytes look like, whatever its name says."""

import codecs
import re
import zlib
from enum import Enum

from services.shared.utf16 import unmarked_utf16


class Content(Enum):
    """What first bytes look like. The value completes the sentence "the file is ..."."""

    TEXT = "text"
    PDF = "a PDF"
    WORD = "a Word document (docx)"
    OFFICE_ZIP = "an Office or OpenDocument package"
    EXCEL = "an Excel workbook"
    POWERPOINT = "a PowerPoint presentation"
    OPEN_DOCUMENT = "an OpenDocument file"
    EPUB = "an EPUB book"
    ZIP = "a zip archive"
    ENCRYPTED_OFFICE = "an Office file with a password"
    OLE = "an older Office file"
    RTF = "rich text (RTF)"
    IMAGE = "an image"
    AUDIO_OR_VIDEO = "a recording"
    ARCHIVE = "a compressed file or archive"
    PROGRAM = "a program"
    BINARY = "of an unknown binary format"


_MAGIC: tuple[tuple[bytes, Content], ...] = (
    (b"{\\rtf", Content.RTF),
    (b"\x89PNG\r\n\x1a\n", Content.IMAGE),
    (b"\xff\xd8\xff", Content.IMAGE),
    (b"GIF87a", Content.IMAGE),
    (b"GIF89a", Content.IMAGE),
    (b"II*\x00", Content.IMAGE),
    (b"MM\x00*", Content.IMAGE),
    (b"8BPS", Content.IMAGE),
    (b"\x1f\x8b", Content.ARCHIVE),
    (b"BZh", Content.ARCHIVE),
    (b"\xfd7zXZ\x00", Content.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", Content.ARCHIVE),
    (b"Rar!\x1a\x07", Content.ARCHIVE),
    (b"\x28\xb5\x2f\xfd", Content.ARCHIVE),
    (b"\x7fELF", Content.PROGRAM),
    (b"MZ\x90\x00", Content.PROGRAM),
    (b"\xca\xfe\xba\xbe", Content.PROGRAM),
    (b"ID3", Content.AUDIO_OR_VIDEO),
    (b"OggS", Content.AUDIO_OR_VIDEO),
    (b"fLaC", Content.AUDIO_OR_VIDEO),
    (b"\x1aE\xdf\xa3", Content.AUDIO_OR_VIDEO),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_LEGACY_STREAMS = ("WordDocument", "Workbook", "PowerPoint Document", "__properties_version1.0")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b\x1a")) + b"\x7f"
_PDF_HEADER_WITHIN = 1024
_TYPES_LIMIT = 256 * 1024
_MEMBER = re.compile(rb"PK\x03\x04.{2}(.{2})(.{2}).{8}(.{4}).{4}(.{2})(.{2})", re.DOTALL)
_MAIN_PARTS = (
    (b"wordprocessingml.document.main+xml", Content.WORD),
    (b"spreadsheetml.sheet.main+xml", Content.EXCEL),
    (b"presentationml.presentation.main+xml", Content.POWERPOINT),
)
_FOLDERS = ((b"word/", Content.WORD), (b"xl/", Content.EXCEL), (b"ppt/", Content.POWERPOINT))
_PACKAGE_PARTS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"customXml/")


def sniff(head: bytes) -> Content:
    """Tell what `head`, the first bytes of a file, looks like. No bytes at all are text."""
    if head.startswith(_OLE):
        return _sniff_ole(head)
    if head.startswith(_ZIP):
        return _sniff_zip(head)
    for magic, content in _MAGIC:
        if head.startswith(magic):
            return content
    if head[:4] == b"RIFF":
        return Content.IMAGE if head[8:12] == b"WEBP" else Content.AUDIO_OR_VIDEO
    if head[4:8] == b"ftyp":
        return Content.IMAGE if head[8:11] in {b"hei", b"avi", b"mif"} else Content.AUDIO_OR_VIDEO
    if _has_pdf_header(head):
        return Content.PDF
    return Content.TEXT if is_text(head) else Content.BINARY


def _has_pdf_header(head: bytes) -> bool:
    """Readers find `%PDF-` after junk too; in a text that only mentions it, more text than junk stands before it."""
    at = head.find(b"%PDF-", 0, _PDF_HEADER_WITHIN)
    return at == 0 or (at > 0 and re.search(rb"\d+ \d+ obj\b", head[at:]) is not None)


def is_text(head: bytes) -> bool:
    """Whether `head` may be text in some encoding: it has hardly any controls, or is 16-bit text."""
    if head.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls * 20 <= len(head) or unmarked_utf16(head) != ""


def _sniff_ole(head: bytes) -> Content:
    """An OLE file that is no legacy document holds an encrypted package. Its folder may lie beyond the head."""
    names = (name.encode("utf-16-le") for name in _LEGACY_STREAMS)
    return Content.OLE if any(name in head for name in names) else Content.ENCRYPTED_OFFICE


def _sniff_zip(head: bytes) -> Content:
    first = b""
    for match in _MEMBER.finditer(head):
        _, method, compressed, name_size, extra_size = (int.from_bytes(g, "little") for g in match.groups())
        name = head[match.end() : match.end() + name_size]
        body = match.end() + name_size + extra_size
        content = head[body : body + compressed] if compressed else head[body:]
        first = first or name
        if name == b"mimetype":
            return Content.EPUB if content.startswith(b"application/epub") else Content.OPEN_DOCUMENT
        if name == b"[Content_Types].xml" and (found := _main_part(content, method)):
            return found
        for folder, kind in _FOLDERS:
            if name.startswith(folder):
                return kind
    return Content.OFFICE_ZIP if first.startswith(_PACKAGE_PARTS) else Content.ZIP


def _main_part(content: bytes, method: int) -> Content | None:
    """What an Office package says it is, if as much of its list of types as is there says it."""
    if method == zlib.DEFLATED:
        try:
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, _TYPES_LIMIT)
        except zlib.error:
            return None
    return next((kind for mark, kind in _MAIN_PARTS if mark in content), None)
