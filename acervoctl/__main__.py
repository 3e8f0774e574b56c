"""Entry point of `acervo`: one line and an exit status for whatever goes wrong, never a traceback."""

import sys

from typer.exceptions import TyperException

from acervoctl.cli import app, debugging
from acervoctl.errors import CommandError, Exit
from acervoctl.output import err, report


def main() -> None:
    """Run the command line and exit."""
    sys.exit(_run())


def _run() -> int:
    try:
        # Typer answers the status of `typer.Exit`, 130 after Ctrl-C, and what a command returned otherwise.
        status: int | None = app(standalone_mode=False)
    except TyperException as error:
        message = error.format_message()  # empty where help was shown instead
        return report(CommandError(message, advice="See --help.")) if message else Exit.UNUSABLE
    except Exception as error:
        if debugging():
            raise
        return report(error)
    if status == Exit.INTERRUPTED:
        err.print("interrupted")
    return status or Exit.DONE


if __name__ == "__main__":
    main()
