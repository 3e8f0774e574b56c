"""Entry point of `acervo`: one line and an exit status for whatever goes wrong, never a traceback."""

import os
import sys

from typer.exceptions import TyperException

from acervoctl.cli import app, debugging
from acervoctl.errors import Exit, interrupted
from acervoctl.output import report


def main() -> None:
    """Run the command line and exit."""
    sys.exit(_run())


def _run() -> int:
    as_json = "--json" in sys.argv
    try:
        # Typer answers the status of `typer.Exit`, 130 after Ctrl-C, and what a command returned otherwise.
        status: int | None = app(standalone_mode=False)
        sys.stdout.flush()
    except (SystemExit, BrokenPipeError):
        # What typer and rich raise, and nobody else, once the reader of standard output has gone.
        return _unread()
    except TyperException as error:
        # Its message is empty where help was shown instead.
        return report(error, as_json=as_json) if error.format_message() else Exit.UNUSABLE
    except Exception as error:
        if debugging():
            raise
        return report(error, as_json=as_json)
    if status == Exit.INTERRUPTED:
        return report(interrupted(), as_json=as_json)
    return status or Exit.DONE


def _unread() -> int:
    """Let what Python still writes at its end go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    return Exit.UNREAD


if __name__ == "__main__":
    main()
