"""The commands and the script that the README tells people to run do what it says."""

import asyncio
import os
import re
import sys
from pathlib import Path

from acervoctl.stack.stack import Stack

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


async def test_what_the_readme_tells_to_run_succeeds_in_its_order(stack: Stack) -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines() if line]
    assert len(commands) >= 5
    outputs = [
        await _run(stack, "/bin/sh", "-c", command.replace(".venv/bin/", f"{Path(sys.executable).parent}/"))
        for command in commands
    ]
    assert re.search(r"library-handbook\.pdf, page 3\b[^#]*?28 days", outputs[1])

    (script,) = blocks("python")
    answer = await _run(stack, sys.executable, "-c", script)
    assert re.search(r"library-handbook\.pdf 3 [^#]*?28 days", answer)


async def _run(stack: Stack, *command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env={**os.environ, "ACERVO_HOME": str(stack.home.root)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    text = output.decode()
    assert process.returncode == 0, f"{command}:\n{text}"
    return text
