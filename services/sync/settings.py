"""What sync reads from its environment."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from services.shared.settings import ServiceSettings


class SyncSettings(ServiceSettings):
    """The shared settings and sync's own."""

    sync_roots: Annotated[tuple[Path, ...], NoDecode] = Field(
        (),
        description="Absolute directories, separated by `:`, that sources of the server's own files may lie in. "
        "None by default: every local source is refused.",
    )
    sync_slots: int = Field(
        8, ge=1, le=64, description="Runs that this process carries out at once, in each lane."
    )
    sync_transfers: int = Field(4, ge=1, le=64, description="Files of one run that are handed over at once.")
    sync_unfinished: int = Field(
        200,
        ge=1,
        le=100_000,
        description="Documents of one run that may be under way before more are handed over.",
    )

    @field_validator("sync_roots", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part for part in value.split(os.pathsep) if part) if isinstance(value, str) else value

    @field_validator("sync_roots")
    @classmethod
    def _absolute(cls, value: tuple[Path, ...]) -> tuple[Path, ...]:
        if relative := [str(path) for path in value if not path.is_absolute()]:
            raise ValueError(f"not absolute: {', '.join(relative)}")
        return value
