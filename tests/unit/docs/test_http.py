import asyncio
import re
from pathlib import Path

from starlette.routing import Route

from services.gateway.routes import application
from services.gateway.settings import GatewaySettings
from services.shared.client import Stubs

PAGE = Path(__file__).resolve().parents[3] / "docs" / "http.md"


def test_the_page_lists_just_the_routes_that_there_are() -> None:
    settings = GatewaySettings.model_validate({"issuers": "issuers.json"})
    routes = application(settings, Stubs(settings), asyncio.Event()).routes
    served = {
        f"{method} {route.path}"
        for route in routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    told = set(re.findall(r"^\| `((?:GET|POST) [^`]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert told == served
