"""What vectorstore reads from its environment beside what all services do."""

from pydantic import Field

from services.shared.settings import ServiceSettings


class VectorstoreSettings(ServiceSettings):
    """The settings of vectorstore, each read from `ACERVO_<NAME>`."""

    embed_slots: int = Field(
        2,
        ge=1,
        description="Documents that this process embeds at once; with two or more, one is kept for people.",
    )
    cache_days: int = Field(
        30, ge=1, description="Days for which computed vectors are kept for texts that come again."
    )
