"""The benchmarks run."""

import json
import subprocess
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]


def test_a_quick_benchmark_tells_figures_and_ratios(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    command = (sys.executable, "-m", "bench", "--quick", "--part", "search,access", "--json", str(file))
    subprocess.run(command, check=True, cwd=_REPOSITORY, capture_output=True, timeout=110)
    written = json.loads(file.read_text())
    assert written["about"]["texts"]
    search = written["parts"]["search"]
    assert search["series"]["alone_rpc_p50"]["unit"] == "ms"
    for name in ("alone: rpc / sql, p50", "one_of_three: rpc / sql, p50"):
        assert search["ratios"][name]["median"] > 0
    access = written["parts"]["access"]
    assert access["series"]["large_rpc_p50"]["unit"] == "ms"
    assert access["ratios"]["rpc: large / small, p50"]["median"] > 0
