"""What every service reads from its environment. A service's own settings extend `ServiceSettings`."""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Misconfigured(ValueError):
    """A setting is missing or wrong, so that the process cannot run: the operator has to change it.

    `variables` are the names of the environment; `what` says what is wrong with them, without their values.
    """

    def __init__(self, variables: str, what: str) -> None:
        self.variables = variables
        self.what = what
        super().__init__(f"{variables}: {what}")


@contextlib.contextmanager
def naming(variable: str, what: str, *errors: type[Exception]) -> Iterator[None]:
    """Run a block; turn `errors`, and whatever finds a value wrong, into `Misconfigured`."""
    wrong: tuple[type[Exception], ...] = (ValueError, *errors)
    try:
        yield
    except wrong as error:
        raise Misconfigured(variable, what) from error


class Role(StrEnum):
    """Which half of a service a process is: all of it, the servers, or the workers."""

    ALL = "all"
    RPC = "rpc"
    WORKER = "worker"

    @property
    def serves(self) -> bool:
        return self is not Role.WORKER

    @property
    def works(self) -> bool:
        return self is not Role.RPC


class ServiceSettings(BaseSettings):
    """The settings that all services share, each read from `ACERVO_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ACERVO_", frozen=True, extra="ignore")

    role: Role = Field(Role.ALL, description="Which half of the service this process is.")
    listen: str = Field("127.0.0.1:0", description="host:port of the gRPC server; port 0 takes a free one.")
    database_url: str = Field(description="PostgreSQL address of this service's own role.", repr=False)
    database_pool: int = Field(8, ge=2, le=100, description="Connections that this process holds at most.")
    nats_url: str = Field(description="NATS address, with this service's own user and password.", repr=False)
    blob_url: str = Field(description="Blob storage: file://, s3://, gs:// or az://.", repr=False)

    issuers: Path = Field(description="JSON file with the token issuers that are trusted.")
    service_tokens: Path = Field(
        description="Directory with this service's own tokens, one file an audience."
    )
    access_address: str = Field("127.0.0.1:7001", description="host:port of access.")
    upload_address: str = Field("127.0.0.1:7002", description="host:port of upload.")
    ingest_address: str = Field("127.0.0.1:7003", description="host:port of ingest.")
    vectorstore_address: str = Field("127.0.0.1:7004", description="host:port of vectorstore.")
    sync_address: str = Field("127.0.0.1:7005", description="host:port of sync.")

    lease_seconds: float = Field(60, gt=0, description="How long a job stays claimed without a heartbeat.")
    heartbeat_seconds: float = Field(20, gt=0, description="How often a worker renews its claim and message.")
    leader_seconds: float = Field(10, gt=0, description="How long a single-holder loop keeps its turn.")
    emit_deadline_seconds: float = Field(
        120, gt=0, description="How long a sent job may stay unclaimed or unanswered before it is sent again."
    )
    reconcile_seconds: float = Field(1, gt=0, description="How often overdue jobs are looked for.")
    request_days: int = Field(7, ge=1, description="How long the answer to a request id is kept, in days.")
    pending_blob_seconds: float = Field(
        600, gt=0, description="How long an object may stay unfinished without a sign of its writer."
    )
    drain_seconds: float = Field(20, gt=0, description="How long running work may take at shutdown.")
    log_level: str = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")
