"""What a part stands on: a stack of its own, a client, and the addresses behind them."""

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from acervo.access.v1.knowledge_bases_pb2 import EmbeddingSettings, KnowledgeBase
from acervo.common.v1.ingestion_config_pb2 import IngestionConfig
from acervo_client import AcervoClient
from acervoctl.stack.home import temporary_home
from acervoctl.stack.stack import Options, Stack
from services.vectorstore.models import Space
from services.vectorstore.settings import VectorstoreSettings

SPACE = Space("hashing-256", 256)
"""The model that costs next to nothing: what is measured is everything but the model."""
CHUNK_SIZE, CHUNK_OVERLAP = 500, 50


@dataclass(frozen=True, slots=True)
class Ground:
    """A running stack, and a folder for files."""

    stack: Stack
    client: AcervoClient
    folder: Path

    async def base(self, name: str) -> KnowledgeBase:
        """Make a base on a collection of this name; several may be on one."""
        return await self.client.bases.create(
            name,
            collection_name=name,
            embedding=EmbeddingSettings(model=SPACE.model, width=SPACE.width),
            ingestion_config=IngestionConfig(chunk_size=CHUNK_SIZE, chunk_overlap=CHUNK_OVERLAP),
        )

    def vectorstore(self) -> VectorstoreSettings:
        """Settings under which this process may act as vectorstore."""
        home = self.stack.home
        return VectorstoreSettings(
            database_url=self.stack.database_urls["vectorstore"],
            nats_url=self.stack.nats_urls["vectorstore"],
            blob_url=home.blobs.as_uri(),
            issuers=home.keys / "issuers.json",
            service_tokens=home.tokens / "vectorstore",
            access_address=self.stack.addresses["access"],
        )


@contextlib.asynccontextmanager
async def ground(
    *services: str, overrides: Mapping[str, Mapping[str, str]] | None = None
) -> AsyncIterator[Ground]:
    """Run these services, durable as in production; everything is gone afterwards."""
    options = Options(services=services, overrides=overrides or {}, start_seconds=120)
    with temporary_home("acervo-bench-") as home, TemporaryDirectory(prefix="acervo-bench-") as folder:
        async with Stack(home, options) as stack:
            await stack.wait_ready()
            async with AcervoClient(stack.addresses, stack.token) as client:
                yield Ground(stack, client, Path(folder))
