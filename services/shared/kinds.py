"""Which kinds of files are taken, and whether a name, a declared type and the content agree on one.

A kind is named after its extension; `Kind.name` is what is stored. Nothing here opens a file: content is judged by
its first bytes, and a reader finds out the rest.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError
from services.shared.sniffing import Content, sniff

HEAD_SIZE = 64 * 1024
"""How many of a file's first bytes `agree` looks at; with fewer of a longer file it may find no kind."""
MAX_LABEL = 1024
"""Highest number of characters of a file's name."""
_MIB = 1024 * 1024
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNDECLARED = frozenset({"", "application/octet-stream", "binary/octet-stream"})


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file that is taken as a document.

    `contents` are what its first bytes may look like, `document_limit` is in bytes, `reader` names the module of
    `services.shared.readers` that reads it, and `paged` says whether its text comes in numbered pages.
    """

    name: str
    extensions: frozenset[str]
    media_types: frozenset[str]
    contents: frozenset[Content]
    reader: str
    paged: bool
    document_limit: int = 50 * _MIB


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind(
                "txt",
                frozenset({"txt"}),
                frozenset({"text/plain"}),
                frozenset({Content.TEXT}),
                "text",
                paged=False,
            ),
            Kind(
                "md",
                frozenset({"md"}),
                frozenset({"text/markdown", "text/x-markdown", "text/plain"}),
                frozenset({Content.TEXT}),
                "markdown",
                paged=False,
            ),
            Kind(
                "pdf",
                frozenset({"pdf"}),
                frozenset({"application/pdf", "application/x-pdf"}),
                frozenset({Content.PDF}),
                "pdf",
                paged=True,
            ),
            Kind(
                "docx",
                frozenset({"docx"}),
                frozenset({_WORD}),
                frozenset({Content.WORD, Content.OFFICE_ZIP}),
                "docx",
                paged=False,
            ),
        )
    }
)
_BY_EXTENSION = {extension: kind for kind in KINDS.values() for extension in kind.extensions}


class KindUnsupported(AcervoError):
    """The extension stands for no kind that is taken."""

    def __init__(self, extension: str) -> None:
        taken = ", ".join(f".{name}" for name in sorted(_BY_EXTENSION))
        shown = f".{extension[:20]} files are" if extension else "A name without an extension is"
        super().__init__(
            pb.ERROR_REASON_FILE_KIND_UNSUPPORTED,
            f"{shown} not taken here; {taken} are.",
            metadata={"extension": extension[:20]},
        )


class KindMismatch(AcervoError):
    """The declared type or the content is not what the extension says. `found` says what it is instead."""

    def __init__(self, kind: Kind, found: str) -> None:
        super().__init__(
            pb.ERROR_REASON_FILE_KIND_MISMATCH,
            f"The name says .{kind.name}, but the file is {found}.",
            metadata={"kind": kind.name},
        )


class FileEmpty(AcervoError):
    """The file holds no bytes."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_FILE_EMPTY)


class FileEncrypted(AcervoError):
    """The content is an encrypted container, as Office writes for a file with a password."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_FILE_ENCRYPTED)


def label(filename: str) -> str:
    """The last component of `filename`, whatever system it comes from, as a label to show and to store.

    Characters that cannot be stored or deceive the eye (controls, lone surrogates, marks that turn the
    direction of writing) are dropped. What is longer than `MAX_LABEL` characters loses the end of its stem and
    keeps its extension. Empty if nothing is left. Example: `..`.
    """
    name = filename.replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = _UNSHOWN.sub("", name).strip()
    if name in {".", ".."}:
        return ""
    if len(name) > MAX_LABEL:
        stem, dot, extension = name.rpartition(".")
        keep = MAX_LABEL - len(dot + extension)
        name = stem[:keep] + dot + extension if stem and keep > 0 else name[:MAX_LABEL]
    return name


def declared(filename: str, media_type: str) -> Kind:
    """The kind that a name and a declared media type agree on.

    An empty or general media type (`application/octet-stream`) declares nothing; parameters are ignored.

    Raises:
        KindUnsupported: if the extension stands for no kind.
        KindMismatch: if the media type is not one of the kind's.
    """
    stem, _, extension = label(filename).rpartition(".")
    kind = _BY_EXTENSION.get(extension.lower()) if stem else None
    if kind is None:
        raise KindUnsupported(extension.lower() if stem else "")
    bare = media_type.partition(";")[0].strip().lower()
    if bare not in _UNDECLARED and bare not in kind.media_types:
        raise KindMismatch(kind, "declared as another type")
    return kind


def agree(filename: str, media_type: str, head: bytes) -> Kind:
    """The kind that name, declared type and content agree on. `head` is the file's first `HEAD_SIZE` bytes.

    Raises:
        KindUnsupported, KindMismatch: as `declared`; also a mismatch if the content is of another kind.
        FileEmpty: if `head` is empty.
        FileEncrypted: if an Office file has a password.
    """
    kind = declared(filename, media_type)
    if not head:
        raise FileEmpty
    content = sniff(head[:HEAD_SIZE])
    if content in kind.contents:
        return kind
    if content is Content.ENCRYPTED_OFFICE and Content.WORD in kind.contents:
        raise FileEncrypted
    raise KindMismatch(kind, content.value)
