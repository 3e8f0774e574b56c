"""`acervo demo`, as `make demo` runs it."""

import json
import subprocess
import sys
from pathlib import Path

from acervoctl.stack.home import temporary_home

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_demo_cites_for_each_question_the_file_and_page_that_answer_it() -> None:
    questions = json.loads((EXAMPLES / "questions.json").read_text())
    with temporary_home("acervo-demo-") as home:
        done = subprocess.run(
            (sys.executable, "-m", "acervoctl", "demo", "--home", str(home)),
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    for question in questions:
        shown = " ".join(done.stdout.partition(question["question"])[2].partition("\n\n")[0].split())
        page = f", page {question['page']}" if question["page"] else ""
        assert f". {question['file']}{page} " in shown, question["question"]
        assert question["expect"] in shown
