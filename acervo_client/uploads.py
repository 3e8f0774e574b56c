"""Sending one file: its header, then its bytes, hashed on the way."""

import errno
import hashlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo.common.v1.lane_pb2 import Lane
from acervo.ingest.v1 import documents_pb2 as documents
from acervo.upload.v1.upload_pb2 import UploadDocumentHeader, UploadDocumentRequest
from services.shared.pathtext import path_text

MESSAGE_BYTES = 256 * 1024
"""How much of a file one message carries: larger ones are no faster."""


@dataclass(frozen=True, slots=True)
class UploadOptions:
    """What an upload says beside its base and its bytes.

    `replace`: whether it takes the place of the document of the same `source_path`.
    `ingestion_config`: only what differs from the base's own. `source_path`: the file's address, by default
    its absolute path (`address`); `source`: UPLOAD or CLI. `lane`: whether somebody waits; the default is the server's.
    """

    replace: bool = False
    ingestion_config: IngestionConfig | None = None
    lane: Lane = Lane.LANE_UNSPECIFIED
    source: documents.DocumentSource = documents.DOCUMENT_SOURCE_UNSPECIFIED
    source_path: str = ""
    media_type: str = ""


NO_OPTIONS = UploadOptions()


def address(path: Path) -> str:
    """The absolute path of a file as it was named: links are not resolved, so a link keeps its address.

    Only a `..` that leads elsewhere than its text says, behind a link to a folder, is followed.
    """
    named = path.absolute()
    plain = os.path.normpath(named)
    try:
        same = ".." not in named.parts or named.samefile(plain)
    except OSError:
        same = False
    return path_text(plain if same else f"{os.path.realpath(named.parent)}/{named.name}")


def open_file(path: Path) -> BinaryIO:
    """Open a regular file without a buffer, never waiting for one of another sort. Raises `OSError`."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0)
    if S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "It is no regular file")


class FileStream:
    """The messages of one upload. `digest` is the sha256 of the bytes once they were all sent.

    `failure`: what kept the file from being read. gRPC merely cancels a call whose messages fail.
    """

    def __init__(
        self,
        path: Path,
        options: UploadOptions,
        *,
        knowledge_base_id: str,
        collection_name: str,
        request_id: str,
    ) -> None:
        self._path = path
        self._header = UploadDocumentHeader(
            request_id=request_id,
            knowledge_base_id=knowledge_base_id,
            collection_name=collection_name,
            filename=path_text(path.name),
            media_type=options.media_type,
            ingestion_config=options.ingestion_config,
            replace=options.replace,
            lane=options.lane,
            source=options.source,
            source_path=options.source_path or address(path),
        )
        self._hash = hashlib.sha256()
        self.failure: OSError | None = None

    @property
    def digest(self) -> bytes:
        return self._hash.digest()

    async def messages(self) -> AsyncIterator[UploadDocumentRequest]:
        """Read the file from its start."""
        self._hash = hashlib.sha256()
        try:
            with open_file(self._path) as file:
                self._header.size = os.fstat(file.fileno()).st_size
                yield UploadDocumentRequest(header=self._header)
                while data := file.read(MESSAGE_BYTES):
                    self._hash.update(data)
                    yield UploadDocumentRequest(data=data)
        except OSError as error:
            self.failure = error
            raise
