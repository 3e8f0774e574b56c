"""The routes: decode, call, encode. Whatever may be reached is decided by the services."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from acervo.ingest.v1.documents_pb2 import GetDocumentRequest
from services.gateway import decode, encode, errors
from services.gateway.decode import BasesFields, DocumentsFields, SearchFields
from services.gateway.events import Events
from services.gateway.settings import GatewaySettings
from services.gateway.uploads import Uploads
from services.shared import auth
from services.shared.client import Stubs, call_options

Handler = Callable[[Request], Awaitable[Response]]


class Api:
    """What the web app reads."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs

    async def get_document(self, request: Request) -> Response:
        """One document."""
        asked = GetDocumentRequest(document_id=request.path_params["document_id"])
        answer = await self._stubs.ingest().GetDocument(asked, **call_options(auth.current().token))
        return JSONResponse({"document": encode.document(answer.document)})

    async def list_documents(self, request: Request) -> Response:
        """A page of documents."""
        options = call_options(auth.current().token)
        asked = decode.query(DocumentsFields, request).message()
        return JSONResponse(encode.documents(await self._stubs.ingest().ListDocuments(asked, **options)))

    async def list_knowledge_bases(self, request: Request) -> Response:
        """A page of knowledge bases."""
        options = call_options(auth.current().token)
        asked = decode.query(BasesFields, request).message()
        answer = await self._stubs.knowledge_bases().ListKnowledgeBases(asked, **options)
        return JSONResponse(encode.knowledge_bases(answer))

    async def search(self, request: Request) -> Response:
        """The passages that fit a question best."""
        options = call_options(auth.current().token)
        asked = (await decode.json_body(SearchFields, request)).message()
        answer = await self._stubs.search().Search(asked, **options)
        return JSONResponse(encode.passages(answer.passages))


class Health:
    """Whether this process lives, and whether it wants requests."""

    def __init__(self, draining: asyncio.Event) -> None:
        self._draining = draining

    async def live(self, _: Request) -> Response:
        """200 as long as the process answers at all."""
        return JSONResponse({"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """200, or 503 once the process is going down. Other services' outages are answered call by call."""
        draining = self._draining.is_set()
        return JSONResponse({"status": "draining" if draining else "ok"}, 503 if draining else 200)


class Application(Starlette):
    """Answers every exception of a route by `exception_handlers`, once."""

    def build_middleware_stack(self) -> ASGIApp:
        """Leave out Starlette's outermost handler, which raises again what was answered."""
        return ExceptionMiddleware(self.router, self.exception_handlers)


def _by_method(path: str, **handlers: Handler) -> Route:
    """One route for all methods of a path, so that a refusal of others names them all."""

    async def answer(request: Request) -> Response:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, answer, methods=list(handlers))


def application(settings: GatewaySettings, stubs: Stubs, draining: asyncio.Event) -> Starlette:
    """Put the routes together."""
    api, health = Api(stubs), Health(draining)
    uploads = Uploads(stubs, settings.upload_seconds)
    events = Events(stubs, settings.watch_seconds, draining)
    answering = Application(
        routes=[
            Route("/healthz", health.live),
            Route("/readyz", health.ready),
            _by_method("/api/v1/documents", GET=api.list_documents, POST=uploads.create),
            Route("/api/v1/documents/{document_id}", api.get_document),
            Route("/api/v1/documents/{document_id}/events", events.watch),
            Route("/api/v1/knowledge-bases", api.list_knowledge_bases),
            Route("/api/v1/search", api.search, methods=["POST"]),
        ],
        exception_handlers={
            HTTPException: errors.on_http_error,
            ClientDisconnect: errors.on_disconnect,
            Exception: errors.on_error,
        },
    )
    answering.router.redirect_slashes = False  # it would send clients to whatever host they named
    return answering
