"""What ingest reads from its environment beside what all services do."""

from pathlib import Path

from pydantic import Field

from services.shared.settings import ServiceSettings


class IngestSettings(ServiceSettings):
    """The settings of ingest, each read from `ACERVO_<NAME>`."""

    parser_slots: int = Field(
        3,
        ge=1,
        description=(
            "Files that this process reads at once, in turns between whom they are for; "
            "with two or more, one slot is kept for people of whom nothing is read yet."
        ),
    )
    parse_seconds: float = Field(300, gt=0, description="Seconds that reading one file may take.")
    quick_parse_seconds: float = Field(
        30,
        gt=0,
        description=(
            "Seconds that a first try at a file may take. What takes longer is tried again, "
            "in all parser slots but two (or in one)."
        ),
    )
    parse_memory_mib: int = Field(1024, ge=64, description="MiB that reading one file may take.")
    scratch: Path | None = Field(
        None, description="Directory for originals being read. Default: the system's."
    )
    bulk_in_flight: int = Field(
        8,
        ge=1,
        description="Bulk documents under way at once, in all processes: about twice the parser slots.",
    )
    interactive_in_flight: int = Field(
        16, ge=1, description="Documents of one organization that people wait for, under way at once."
    )
