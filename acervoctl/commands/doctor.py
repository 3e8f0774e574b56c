"""`acervo doctor`: whether this machine has what Acervo needs."""

import typer
from rich.markup import escape

from acervoctl.connect import Target
from acervoctl.diagnosis import Verdict, diagnose
from acervoctl.errors import Exit
from acervoctl.options import HomeOption, JsonOption
from acervoctl.output import out, print_json

_COLOURS = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red"}


def doctor(as_json: JsonOption = False, home: HomeOption = None) -> None:
    """Check Python, packages, PostgreSQL, NATS, isolation of parsers, models and disk. Exit status 1: one fails."""
    findings = list(diagnose(Target(home).resolve_home()))
    if as_json:
        checks = [
            {
                "name": finding.name,
                "verdict": finding.verdict.value,
                "detail": finding.detail,
                "advice": finding.advice if finding.verdict is not Verdict.OK else "",
            }
            for finding in findings
        ]
        print_json({"checks": checks})
    else:
        for finding in findings:
            colour = _COLOURS[finding.verdict]
            out.print(f"[{colour}]{finding.verdict:4}[/{colour}] {finding.name}: {escape(finding.detail)}")
            if finding.verdict is not Verdict.OK and finding.advice:
                out.print(f"     {escape(finding.advice)}")
    if any(finding.verdict is Verdict.FAIL for finding in findings):
        raise typer.Exit(Exit.FAILED)
