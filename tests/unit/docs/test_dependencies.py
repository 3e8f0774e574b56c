"""docs/dependencies.md gives a reason for each package that the distribution asks for."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_each_dependency_has_its_reason_under_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if "|" in line
    ]
    told = {(name, row[1]) for row in rows for name in row[0].split(", ")}
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    asked = {
        (re.split(r"[<>=\[]", package)[0], extra)
        for extra, packages in extras.items()
        if extra != "dev"
        for package in packages
    }
    assert {(name, extra) for name, extra in asked if name != "acervo"} <= told
