"""The service as a process that can be killed, and a vectorstore that answers as little as it may."""

import asyncio
import contextlib
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from acervo.events.v1.facts_pb2 import DocumentIndexed
from acervo.events.v1.work_pb2 import EmbedDocument
from services.shared.broker import Broker, Delivery, Outgoing
from services.shared.bus import DOCUMENT_INDEXED
from services.shared.ids import uuid7

_QUICK = {
    "ACERVO_PARSER_SLOTS": "2",
    "ACERVO_LEASE_SECONDS": "2",
    "ACERVO_HEARTBEAT_SECONDS": "0.5",
    "ACERVO_LEADER_SECONDS": "1",
    "ACERVO_EMIT_DEADLINE_SECONDS": "2",
    "ACERVO_RECONCILE_SECONDS": "0.2",
}


class IngestProcess:
    """`python -m services.ingest` with its own log."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._environment = {**os.environ, **_QUICK, **environment}
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "services.ingest",
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def kill(self) -> None:
        """End the process as a power failure would."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()

    async def drain(self) -> int:
        """Ask the process to end, and return its exit status."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return await self._process.wait()


class Vectorstore:
    """Answers each document, but only when it was asked for the `patience`-th time."""

    def __init__(self, broker: Broker, patience: int = 1) -> None:
        self._broker = broker
        self._patience = patience
        self.asked: Counter[str] = Counter()

    @contextlib.asynccontextmanager
    async def answering(self) -> AsyncIterator[None]:
        stopping = asyncio.Event()
        consumers = [
            asyncio.create_task(
                self._broker.consume(
                    f"embed-{lane}", self._embed, self._dead, slots=4, heartbeat_seconds=5, stopping=stopping
                )
            )
            for lane in ("interactive", "bulk")
        ]
        try:
            yield
        finally:
            for consumer in consumers:
                consumer.cancel()
            await asyncio.gather(*consumers, return_exceptions=True)

    async def _embed(self, delivery: Delivery) -> None:
        asked = EmbedDocument.FromString(delivery.data)
        self.asked[asked.document_id] += 1
        if self.asked[asked.document_id] < self._patience:
            return
        answer = DocumentIndexed(document_id=asked.document_id, attempt=asked.attempt, chunk_count=1)
        await self._broker.publish([Outgoing(uuid7(), DOCUMENT_INDEXED, answer.SerializeToString())])

    async def _dead(self, consumer: str, delivery: Delivery, error: str) -> None:
        raise AssertionError(f"{consumer} could not decode {delivery}: {error}")
