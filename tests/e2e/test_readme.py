"""The commands that the README tells people to type do what it says."""

import asyncio
import os
import re
import sys
from pathlib import Path

from acervoctl.stack import Stack

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


async def test_the_commands_of_the_readme_succeed_in_their_order(stack: Stack) -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    commands = [line for block in blocks for line in block.splitlines() if line]
    assert len(commands) >= 5
    outputs = [await _run(command, stack) for command in commands]
    assert "library-handbook.pdf, page" in outputs[1]


async def _run(command: str, stack: Stack) -> str:
    process = await asyncio.create_subprocess_shell(
        command.replace(".venv/bin/", f"{Path(sys.executable).parent}/"),
        cwd=ROOT,
        env={**os.environ, "ACERVO_HOME": str(stack.home.root)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    text = output.decode()
    assert process.returncode == 0, f"{command}:\n{text}"
    return text
