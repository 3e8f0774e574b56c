"""What a run says: tables for people, JSON for scripts."""

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.figures import Part, Spread


def show(console: Console, parts: Sequence[Part], about: dict[str, Any]) -> None:
    """Print all figures."""
    for part in parts:
        table = Table(title=part.title, title_justify="left", title_style="bold")
        table.add_column("")
        for heading in ("median", "min", "max", "unit"):
            table.add_column(heading, justify="right")
        for series in part.series:
            table.add_row(series.name, *_cells(series.spread), series.unit)
        if part.ratios:
            table.add_section()
        for ratio in part.ratios:
            table.add_row(ratio.name, *_cells(ratio.spread), "x", style="bold")
        console.print(table)
        for note in part.notes:
            console.print(f"  {note}", highlight=False)
        console.print()
    console.print(", ".join(f"{name} {value}" for name, value in about.items()), style="dim", highlight=False)


def _cells(spread: Spread) -> list[str]:
    return [plain(value) for value in (spread.median, spread.least, spread.most)]


def plain(value: float) -> str:
    """Four digits that count, written out. Example: `23010`."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def write(path: Path, parts: Sequence[Part], about: dict[str, Any]) -> None:
    """Write all figures as JSON."""
    content = {"about": about, "parts": {part.name: part.as_json() for part in parts}}
    path.write_text(json.dumps(content, indent=2) + "\n")


def machine() -> dict[str, Any]:
    """What to know of the machine: others may have been at work on it."""
    return {
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
    }
