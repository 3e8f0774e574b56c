"""What upload reads from its environment beside what all services do."""

from pydantic import Field

from services.shared.settings import ServiceSettings


class UploadSettings(ServiceSettings):
    """The settings of upload, each read from `ACERVO_<NAME>`."""

    upload_slots: int = Field(
        64,
        ge=1,
        description="Files taken at once, each with 2 MiB of buffers, or 24 MiB where blobs go to a bucket.",
    )
    upload_idle_seconds: float = Field(
        60, gt=0, description="How long a caller may pause between two messages of a file."
    )
