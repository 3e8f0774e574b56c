"""Entry point of `acervo`: one line and an exit status for whatever goes wrong, never a traceback."""

import sys

import typer
from typer.exceptions import TyperException

from acervoctl.cli import app, debugging
from acervoctl.errors import CommandError, Exit
from acervoctl.output import err, report


def main() -> None:
    """Run the command line and exit."""
    sys.exit(_run())


def _run() -> int:
    try:
        result = app(standalone_mode=False)
    except TyperException as error:
        return report(CommandError(error.format_message(), advice="See --help."))
    except (KeyboardInterrupt, typer.Abort):
        err.print("interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read the output has gone; nobody is left to tell
        return Exit.FAILED
    except Exception as error:
        if debugging():
            raise
        return report(error)
    return result if isinstance(result, int) else Exit.DONE


if __name__ == "__main__":
    main()
