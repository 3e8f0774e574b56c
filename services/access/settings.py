"""What access reads from its environment."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from services.access.bases.claims import Embedding
from services.shared.egress import Allowed
from services.shared.identity import user_id
from services.shared.settings import ServiceSettings


class AccessSettings(ServiceSettings):
    """The settings of access, each read from `ACERVO_<NAME>`."""

    admins: Annotated[frozenset[UUID], NoDecode] = Field(
        frozenset(),
        description="The deployment's admins: `issuer#subject` or UUIDs of persons, separated by commas.",
    )
    embedding_model: str = Field(
        "use-multilingual-v3", min_length=1, description="Model of bases that name none."
    )
    embedding_width: int = Field(512, ge=1, le=4096, description="Width of that model's vectors.")
    vault_keys_file: Path | None = Field(
        None,
        description="File of the vault's master keys, a line each: version, space, 32 bytes in base64. "
        "None: no secret is kept or opened.",
    )
    teardown_retry_seconds: float = Field(
        3600, gt=0, description="How long a teardown may stay unanswered before it is announced again."
    )
    sweep_seconds: float = Field(
        60, gt=0, description="How often overdue teardowns and reservations are looked for."
    )
    reservation_seconds: float = Field(
        3600, gt=0, description="How long an amount stays reserved that a service does not settle."
    )
    audit_seal_seconds: float = Field(2, gt=0, description="How often audit events are sealed.")

    egress_allow: Annotated[Allowed, NoDecode] = Field(
        Allowed(),
        description="Hosts, IP addresses and CIDR networks, separated by commas, that tenants may name though they are "
        "private.",
    )

    @field_validator("egress_allow", mode="before")
    @classmethod
    def _read_egress_allow(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return Allowed.of(entry.strip() for entry in value.split(",") if entry.strip())

    @field_validator("admins", mode="before")
    @classmethod
    def _read_admins(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return frozenset(_admin(entry.strip()) for entry in value.split(",") if entry.strip())

    @property
    def default_embedding(self) -> Embedding:
        """What a base gets that names no embedding settings."""
        return Embedding(self.embedding_model, self.embedding_width)


def _admin(entry: str) -> UUID:
    issuer, marker, subject = entry.partition("#")
    return user_id(issuer, subject) if marker else UUID(entry)
