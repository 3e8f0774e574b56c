"""Requests as messages. What is wrong is named by the path that a form can mark."""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request

from acervo.access.v1.knowledge_bases_pb2 import ListKnowledgeBasesRequest
from acervo.common.v1 import error_reason_pb2 as pb
from acervo.common.v1 import ingestion_config_pb2 as config_pb
from acervo.ingest.v1 import documents_pb2 as documents_pb
from acervo.upload.v1.upload_pb2 import UploadDocumentHeader
from acervo.vectorstore.v1 import search_pb2 as search_pb
from services.gateway.body import Body
from services.shared.auth import MAX_TOKEN_LENGTH
from services.shared.errors import AcervoError, FieldsInvalid, FieldViolation, Unauthenticated

MAX_JSON_BYTES: Final = 128 * 1024
MAX_VIOLATIONS: Final = 10
MAX_PATH_LENGTH: Final = 100

Model = TypeVar("Model", bound=BaseModel)


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair") from None
    return text


Text = Annotated[str, AfterValidator(_encodable)]
Int32 = Annotated[int, Field(ge=-(2**31), lt=2**31)]


class Status(StrEnum):
    """The lifecycle of a document."""

    PROCESSING = "processing"
    DONE = "done"
    ERROR = "error"


class SearchMode(StrEnum):
    """Which legs of a search are run."""

    HYBRID = "hybrid"
    VECTOR = "vector"
    LEXICAL = "lexical"


class Lane(StrEnum):
    """Whether somebody waits for an upload."""

    INTERACTIVE = "interactive"
    BULK = "bulk"


class Parser(StrEnum):
    """Who reads PDFs."""

    PYMUPDF = "pymupdf"


class ChunkingStrategy(StrEnum):
    """Where texts are cut."""

    RECURSIVE = "recursive"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IngestionConfig(_Strict):
    """What differs from the base's configuration."""

    parser: Parser | None = None
    chunk_size: Int32 | None = None
    chunk_overlap: Int32 | None = None
    chunking_strategy: ChunkingStrategy | None = None

    def message(self) -> config_pb.IngestionConfig:
        """The same as a message."""
        return config_pb.IngestionConfig(
            parser=f"PARSER_{self.parser.name}" if self.parser else None,
            chunk_size=self.chunk_size,
            chunk_overlap=self.chunk_overlap,
            chunking_strategy=f"CHUNKING_STRATEGY_{self.chunking_strategy.name}"
            if self.chunking_strategy
            else None,
        )


class UploadFields(_Strict):
    """What an upload says beside its bytes, in the query or in the fields of a form."""

    filename: Text = ""
    media_type: Text = ""
    knowledge_base_id: Text = ""
    collection_name: Text = ""
    request_id: Text = ""
    size: int = Field(0, ge=0, lt=2**63)
    sha256: Text = ""
    source_path: Text = ""
    replace: bool = False
    lane: Lane | None = None
    ingestion_config: IngestionConfig = IngestionConfig()

    def header(self) -> UploadDocumentHeader:
        """The same as the first message of the stream."""
        return UploadDocumentHeader(
            request_id=self.request_id,
            knowledge_base_id=self.knowledge_base_id,
            collection_name=self.collection_name,
            filename=self.filename,
            media_type=self.media_type,
            size=self.size,
            sha256=_digest(self.sha256),
            ingestion_config=self.ingestion_config.message(),
            replace=self.replace,
            lane=f"LANE_{self.lane.name}" if self.lane else None,
            source_path=self.source_path,
        )


class SearchFields(_Strict):
    """A question."""

    query: Text
    knowledge_base_ids: list[Text] = []
    collection_names: list[Text] = []
    top_k: Int32 = 0
    mode: SearchMode = SearchMode.HYBRID

    def message(self) -> search_pb.SearchRequest:
        """The same as a message."""
        return search_pb.SearchRequest(
            query=self.query,
            knowledge_base_ids=self.knowledge_base_ids,
            collection_names=self.collection_names,
            top_k=self.top_k,
            mode=f"SEARCH_MODE_{self.mode.name}",
        )


class DocumentsFields(_Strict):
    """Which documents to list."""

    knowledge_base_id: Text = ""
    collection_name: Text = ""
    status: list[Status] = []
    page_size: Int32 = 0
    page_token: Text = ""

    def message(self) -> documents_pb.ListDocumentsRequest:
        """The same as a message."""
        return documents_pb.ListDocumentsRequest(
            knowledge_base_id=self.knowledge_base_id,
            collection_name=self.collection_name,
            states=[f"DOCUMENT_STATE_{one.name}" for one in self.status],
            page_size=self.page_size,
            page_token=self.page_token,
        )


class BasesFields(_Strict):
    """Which knowledge bases to list."""

    organization_id: Text = ""
    collection_name: Text = ""
    page_size: Int32 = 0
    page_token: Text = ""

    def message(self) -> ListKnowledgeBasesRequest:
        """The same as a message."""
        return ListKnowledgeBasesRequest(**self.model_dump())


def token(headers: Headers) -> str:
    """The caller's bearer token, to be judged and forwarded. Raises Unauthenticated where there is none."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    given = value.strip()
    if scheme.lower() != "bearer" or not 0 < len(given) <= MAX_TOKEN_LENGTH:
        raise Unauthenticated
    if not (given.isascii() and given.isprintable()):
        raise Unauthenticated
    return given


def query(model: type[Model], request: Request) -> Model:
    """The parameters of a URL. Raises FieldsInvalid."""
    values: dict[str, Any] = dict(request.query_params)
    if "status" in values:
        values["status"] = request.query_params.getlist("status")
    return fields(model, values)


def fields(model: type[Model], values: Mapping[str, Any]) -> Model:
    """Fields that come as texts; `ingestion_config` is JSON. Raises FieldsInvalid."""
    given = dict(values)
    config = given.get("ingestion_config")
    if isinstance(config, str):
        given["ingestion_config"] = _parse(config.encode(), "ingestion_config")
    return _validate(model, given)


async def json_body(model: type[Model], request: Request) -> Model:
    """A body of JSON, at most 128 KiB. Raises FieldsInvalid, and what `Body` does."""
    content = bytearray()
    async for chunk in Body(request.receive):
        content += chunk
        if len(content) > MAX_JSON_BYTES:
            raise too_large("body", MAX_JSON_BYTES)
    return _validate(model, _parse(bytes(content), "body"))


def too_large(what: str, limit: int) -> AcervoError:
    """What is refused that is longer than `limit` bytes."""
    return AcervoError(pb.ERROR_REASON_MESSAGE_TOO_LARGE, f"The {what} has more than {limit} bytes.")


def _parse(text: bytes, path: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise FieldsInvalid([FieldViolation(path, "must be JSON.")]) from None


def _validate(model: type[Model], values: Any) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_VIOLATIONS]
        raise FieldsInvalid([_violation(one["loc"], one["msg"]) for one in wrong]) from None


def _violation(location: tuple[int | str, ...], message: str) -> FieldViolation:
    said = message.removeprefix("Value error, ")
    path = ".".join(map(str, location))[:MAX_PATH_LENGTH]
    return FieldViolation(path or "body", f"{said[:1].lower()}{said[1:]}.")


def _digest(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise FieldsInvalid([FieldViolation("sha256", "must be hexadecimal.")]) from None
