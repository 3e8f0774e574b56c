"""What upload reads from its environment beside what all services do."""

from pydantic import Field

from services.shared.settings import ServiceSettings
from services.upload.limits import Limits, Pace


class UploadSettings(ServiceSettings):
    """The settings of upload, each read from `ACERVO_<NAME>`."""

    upload_slots: int = Field(
        64,
        ge=1,
        le=1024,
        description="Files taken at once, each with 2 MiB of buffers, or 24 MiB where blobs go to a bucket.",
    )
    upload_slots_per_caller: int = Field(
        8,
        ge=1,
        le=1024,
        description="Files of one person or agent among them, those not yet admitted included.",
    )
    upload_idle_seconds: float = Field(
        60, gt=0, le=3600, description="How long a caller may pause between two messages of a file."
    )
    upload_bytes_per_second: int = Field(
        16_384,
        ge=1,
        le=1 << 30,
        description="How fast a file has to come, once its pauses are longer than that together.",
    )

    @property
    def limits(self) -> Limits:
        """What callers are held to."""
        pace = Pace(self.upload_idle_seconds, self.upload_bytes_per_second)
        return Limits(self.upload_slots, self.upload_slots_per_caller, pace)
