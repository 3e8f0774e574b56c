"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

HomeOption = Annotated[
    Path | None,
    typer.Option("--home", help="Directory of the local stack. Also: ACERVO_HOME.", show_default=False),
]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--user", help="Act as this local person. Also: ACERVO_USER. Default: the admin.", show_default=False
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")]
CollectionOption = Annotated[str, typer.Option("--collection", "-c", help="Name of the collection.")]
