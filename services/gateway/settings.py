"""What the gateway reads from its environment."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class GatewaySettings(BaseSettings):
    """The settings of the gateway, each read from `ACERVO_<NAME>`. It has no state, hence no database."""

    model_config = SettingsConfigDict(env_prefix="ACERVO_", frozen=True, extra="ignore")

    listen: str = Field("127.0.0.1:0", description="host:port of the HTTP server; port 0 takes a free one.")
    issuers: Path = Field(description="JSON file with the token issuers that are trusted.")
    access_address: str = Field("127.0.0.1:7001", description="host:port of access.")
    upload_address: str = Field("127.0.0.1:7002", description="host:port of upload.")
    ingest_address: str = Field("127.0.0.1:7003", description="host:port of ingest.")
    vectorstore_address: str = Field("127.0.0.1:7004", description="host:port of vectorstore.")
    sync_address: str = Field("127.0.0.1:7005", description="host:port of sync.")
    upload_seconds: float = Field(600, gt=0, description="How long one upload may take.")
    watch_seconds: float = Field(
        3600, gt=0, description="How long one event stream lasts; clients reconnect."
    )
    unready_seconds: float = Field(
        0, ge=0, description="How long to go on serving after turning unready, for balancers to notice."
    )
    drain_seconds: float = Field(20, gt=0, description="How long running requests may take at shutdown.")
    log_level: str = Field("INFO", description="DEBUG, INFO, WARNING or ERROR.")
