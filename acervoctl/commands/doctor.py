"""`acervo doctor`: whether this machine has what Acervo needs."""

import asyncio

import typer

from acervoctl.connect import Target
from acervoctl.diagnosis import Finding, Verdict, diagnose
from acervoctl.errors import Exit
from acervoctl.options import HomeOption, JsonOption
from acervoctl.output import out, print_json, shown
from acervoctl.stack.home import Home

_COLOURS = {Verdict.OK: "green", Verdict.WARN: "yellow", Verdict.FAIL: "red"}


async def _findings(home: Home) -> list[Finding]:
    return [finding async for finding in diagnose(home)]


def doctor(as_json: JsonOption = False, home: HomeOption = None) -> None:
    """Check this machine, and each service of the stack that runs. Exit status 1: something fails."""
    findings = asyncio.run(_findings(Target(home).resolve_home()))
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
            out.print(f"[{colour}]{finding.verdict:4}[/{colour}] {finding.name}: {shown(finding.detail)}")
            if finding.verdict is not Verdict.OK and finding.advice:
                out.print(f"     {shown(finding.advice)}")
    if any(finding.verdict is Verdict.FAIL for finding in findings):
        raise typer.Exit(Exit.FAILED)
