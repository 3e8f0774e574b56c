"""Listings that come page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeVar

from acervo_client.connection import typed_errors

PAGE_SIZE = 500


class _Request(Protocol):
    page_size: int
    page_token: str


class _Page(Protocol):
    @property
    def next_page_token(self) -> str: ...


Request = TypeVar("Request", bound=_Request)
Page = TypeVar("Page", bound=_Page)


async def pages(call: Callable[[Request], Awaitable[Page]], request: Request) -> AsyncIterator[Page]:
    """All pages of a listing. Raises `AcervoError`."""
    request.page_size = PAGE_SIZE
    while True:
        async with typed_errors():
            page = await call(request)
        yield page
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token
