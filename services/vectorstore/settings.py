"""What vectorstore reads from its environment beside what all services do."""

from pydantic import Field

from services.shared.settings import ServiceSettings


class VectorstoreSettings(ServiceSettings):
    """The settings of vectorstore, each read from `ACERVO_<NAME>`."""

    embed_slots: int = Field(
        5,
        ge=1,
        description=(
            "Documents that this process embeds at once, in turns between whom they are for; "
            "with two or more, one slot is kept for people of whom nothing is embedded yet, with four or more "
            "another for others than whose work fills the rest."
        ),
    )
    cache_days: int = Field(
        30, ge=1, description="Days for which computed vectors are kept for texts that come again."
    )
