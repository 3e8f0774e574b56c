"""What commands say when something goes wrong."""

import pytest

from acervo_client import AcervoError, FieldError
from acervoctl.errors import CommandError, Exit
from acervoctl.output import report
from acervoctl.stack import StackError


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (CommandError("there are no files", advice="Name some."), Exit.UNUSABLE, "no files. Name some."),
        (CommandError("half of it", status=Exit.FAILED), Exit.FAILED, "half of it"),
        (StackError("[home] is full"), Exit.UNUSABLE, "[home] is full"),
        (AcervoError("NOT_FOUND"), Exit.FAILED, "(NOT_FOUND). Check the id"),
        (AcervoError("UNAVAILABLE"), Exit.UNUSABLE, "(UNAVAILABLE). Try again"),
        (
            AcervoError("FIELD_INVALID", "No.", fields=(FieldError("top_k", "is 0"),)),
            Exit.FAILED,
            "No. top_k: is 0 (FIELD_INVALID)",
        ),
        (
            ZeroDivisionError("oh"),
            Exit.UNUSABLE,
            "unexpected ZeroDivisionError: oh. Run it again with --debug",
        ),
    ],
)
def test_every_error_is_one_line_and_an_exit_status(
    error: Exception, status: Exit, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error) is status
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("error: ")
    assert written.err.count("\n") == 1
    assert said in written.err
