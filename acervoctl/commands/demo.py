"""`acervo demo`: everything once, from nothing to cited answers."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo_client import AcervoClient
from acervoctl.commands.ingest import ingest_with_view, print_failures
from acervoctl.commands.search import print_passage
from acervoctl.connect import Target
from acervoctl.errors import CommandError, Exit
from acervoctl.files import find_files
from acervoctl.ingesting import Stage
from acervoctl.options import HomeOption
from acervoctl.output import counted, out, shown
from acervoctl.running import log_to_terminal, run_until_signalled
from acervoctl.stack.home import Home
from acervoctl.stack.stack import Options, Stack

_COLLECTION = "demo"
_CONFIG = IngestionConfig(chunk_size=600, chunk_overlap=100)
"""Passages that are read at a glance: the examples are short."""

_PASSAGES = 2
_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True, slots=True)
class Question:
    """A question that the examples answer, and the language that it is asked in."""

    question: str
    language: str


def demo(
    home: HomeOption = None,
    examples: Annotated[
        Path, typer.Option(help="A folder with `documents` and `questions.json`.", show_default=False)
    ] = _EXAMPLES,
) -> None:
    """Start everything in a home of its own, index the examples, ask questions, show cited answers, stop.

    That home is --home, or else ACERVO_HOME (or its default) with `-demo` behind; each demo makes it anew.
    """
    questions = _read_questions(examples / "questions.json")
    usual = Target(home).resolve_home()
    own = usual if home is not None else Home.at(usual.root.with_name(f"{usual.root.name}-demo"))
    own.wipe()
    log_to_terminal()
    run_until_signalled(_demo(own, find_files([examples / "documents"], recursive=True), questions))


def _read_questions(path: Path) -> list[Question]:
    try:
        entries = json.loads(path.read_text())
    except (OSError, ValueError):
        raise CommandError(
            f"{path} cannot be read", advice="Name a folder with --examples, or run the demo in a clone."
        ) from None
    return [Question(entry["question"], entry["language"]) for entry in entries]


async def _demo(home: Home, files: list[Path], questions: list[Question]) -> None:
    started = time.monotonic()
    async with Stack(home.root, Options(durable=False)) as stack:
        await stack.wait_ready()
        out.print(f"PostgreSQL, NATS and the services are up after {time.monotonic() - started:.1f} s.")
        async with AcervoClient(stack.addresses, stack.token()) as client:
            await _ingest(client, files)
            for question in questions:
                await _ask(client, question)
    out.print(f"\nThe demo took {time.monotonic() - started:.1f} s. Its data is in {shown(str(home.root))}.")


async def _ingest(client: AcervoClient, files: list[Path]) -> None:
    base = await client.bases.create("Demo", collection_name=_COLLECTION, ingestion_config=_CONFIG)
    statuses = await ingest_with_view(client, files, base.id, replace_older=True, quiet=False)
    print_failures(statuses)
    if any(status.stage is not Stage.DONE for status in statuses):
        raise CommandError(
            "not every example could be indexed",
            advice="See what each file was refused for.",
            status=Exit.FAILED,
        )
    chunks = sum(status.chunks for status in statuses)
    size = f"at most {_CONFIG.chunk_size} characters each"
    out.print(f"{counted(len(statuses), 'document')} indexed in {counted(chunks, 'passage')}, {size}.")


async def _ask(client: AcervoClient, question: Question) -> None:
    passages = await client.search(question.question, collection_names=[_COLLECTION], top_k=_PASSAGES)
    if not passages:
        advice = "Ask what the examples answer, or look at the logs in the home."
        raise CommandError(f"nothing was found for: {question.question}", advice=advice, status=Exit.FAILED)
    out.print(f"\n[cyan]{shown(question.question)}[/cyan] [dim]({question.language})[/dim]")
    for number, passage in enumerate(passages, start=1):
        print_passage(number, passage)
