"""The command: `python -m bench [--json FILE] [--part upload,store,search,latency,access] [--quick]`."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench import access, latency, report, search, store, upload
from bench.figures import Part
from bench.plan import FULL, QUICK, Plan
from bench.texts import Corpus

PARTS: dict[str, ModuleType] = {module.NAME: module for module in (upload, store, search, latency, access)}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure Acervo against plain floors."
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there as well")
    parser.add_argument("--part", type=_parts, default=list(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument(
        "--quick", action="store_true", help="run everything once in small: figures mean nothing"
    )
    return parser.parse_args()


def _parts(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(unknown)}")
    return names


async def _measure(names: Sequence[str], plan: Plan, corpus: Corpus, console: Console) -> list[Part]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    parts = []
    with Progress(*columns, console=console, transient=True) as progress:
        for name in names:
            module = PARTS[name]
            task = progress.add_task(name, total=module.steps(plan))
            parts.append(await module.measure(plan, corpus, lambda task=task: progress.advance(task)))
    return parts


def main() -> None:
    """Measure and report."""
    arguments = _arguments()
    plan = QUICK if arguments.quick else FULL
    corpus = Corpus.load(plan.seed)
    parts = asyncio.run(_measure(arguments.part, plan, corpus, Console(stderr=True)))
    about = {**report.machine(), "texts": corpus.origin, "repetitions": plan.repetitions, "seed": plan.seed}
    report.show(Console(), parts, about)
    if arguments.json:
        report.write(arguments.json, parts, about)


if __name__ == "__main__":
    main()
