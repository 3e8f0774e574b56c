"""Logs of child processes."""

import os
from pathlib import Path

from acervoctl.stack.logs import open_log, rotate, tail


def test_a_log_that_has_grown_is_set_aside_and_its_writer_goes_on_in_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    log = open_log(path)
    os.write(log, b"a" * 100)
    rotate(path, max_bytes=50)
    os.write(log, b"more")
    os.close(log)
    assert path.read_bytes() == b"more"
    assert (tmp_path / "x.log.1").read_bytes() == b"a" * 100


def test_a_small_log_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("small")
    rotate(path, max_bytes=50)
    assert path.read_text() == "small"
    rotate(tmp_path / "absent.log", max_bytes=50)


def test_the_tail_is_the_last_lines_even_of_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"\n".join(b"line %d \xff" % number for number in range(100)))
    assert tail(path, lines=2).splitlines() == ["line 98 \ufffd", "line 99 \ufffd"]
    assert tail(tmp_path / "absent.log") == ""
