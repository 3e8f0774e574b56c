"""Writes the table of settings into docs/operations.md, out of the settings classes. `--check` only compares."""

import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic.fields import FieldInfo

from services.access.settings import AccessSettings
from services.gateway.settings import GatewaySettings
from services.ingest.settings import IngestSettings
from services.shared.settings import ServiceSettings
from services.sync.settings import SyncSettings
from services.upload.settings import UploadSettings
from services.vectorstore.settings import VectorstoreSettings

PAGE = Path(__file__).resolve().parents[1] / "docs" / "operations.md"
BEGIN, END = "<!-- settings: written by tools/settings_table.py -->\n", "<!-- end of settings -->\n"
CLASSES = {
    "every service": ServiceSettings,
    "access": AccessSettings,
    "upload": UploadSettings,
    "ingest": IngestSettings,
    "vectorstore": VectorstoreSettings,
    "sync": SyncSettings,
    "gateway": GatewaySettings,
}


def table() -> str:
    """Return the settings of all services as Markdown."""
    return "".join(_section(name, settings) for name, settings in CLASSES.items())


def _section(name: str, settings: type) -> str:
    rows = "".join(_rows(name, settings))
    return f"\n**{name}**\n\n| setting | default | what it is |\n|---|---|---|\n{rows}" if rows else ""


def _rows(name: str, settings: type) -> Iterator[str]:
    for field, info in settings.model_fields.items():  # type: ignore[attr-defined]
        if name == "every service" or field not in ServiceSettings.model_fields:
            yield f"| `ACERVO_{field.upper()}` | {_default(info)} | {info.description} |\n"


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    return f"`{info.default}`" if info.default not in (None, (), frozenset(), "") else "none"


def page_with(text: str) -> str:
    """Return the page with the table in its place."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}{table()}\n{END}{tail}"


def main() -> int:
    """Write the table, or say that it is stale."""
    text = PAGE.read_text(encoding="utf-8")
    fresh = page_with(text)
    if "--check" in sys.argv[1:]:
        if fresh != text:
            print("docs/operations.md is stale: run python tools/settings_table.py", file=sys.stderr)  # noqa: T201
        return int(fresh != text)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
