"""Uploads, by megabytes a second: through the client into blob storage, against hashing and copying the file."""

import time
from itertools import count
from pathlib import Path

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from bench.cpu import milliseconds_each, used
from bench.figures import Part, Ratio, Series, Step, interleaved
from bench.floor import hash_and_copy
from bench.ground import Ground, ground
from bench.plan import Plan
from bench.sink import sink
from bench.texts import Corpus

NAME = "upload"
_MIB = 1 << 20


def steps(plan: Plan) -> int:
    """How many steps `measure` takes."""
    return 3 * plan.repetitions


async def measure(plan: Plan, corpus: Corpus, step: Step) -> Part:
    """Send one large text file, of other content each time, while nobody reads it."""
    rpc_only = {"ingest": {"ACERVO_ROLE": "rpc"}}
    async with ground("access", "upload", "ingest", overrides=rpc_only) as on, sink() as bare:
        base = await on.base("upload")
        file = _Changing(on.folder / "large.txt", corpus, plan.file_mib * _MIB)
        await _upload(on, base, file.next())
        await bare.send(file.path)
        computed: list[float] = []

        async def upload() -> float:
            path = file.next()
            before = used(on.stack)
            seconds = await _upload(on, base, path)
            computed.append(used(on.stack) - before)
            return seconds

        seconds = await interleaved(
            plan.repetitions,
            {
                "upload": upload,
                "sha256_and_copy": lambda: _floor(file.path, on.folder / "copy"),
                "grpc_sink": lambda: bare.send(file.path),
            },
            step,
        )
    return _part(seconds, computed, plan)


class _Changing:
    """A file whose first line differs each time: the same content again would be recognised."""

    def __init__(self, path: Path, corpus: Corpus, size: int) -> None:
        self.path = path
        self._numbers = count(1)
        text = "\n\n".join(corpus.texts).encode()
        with path.open("wb") as file:
            while file.tell() < size:
                file.write(text[: size - file.tell()])

    def next(self) -> Path:
        with self.path.open("r+b") as file:
            file.write(f"{next(self._numbers):08}\n".encode())
        return self.path


async def _upload(on: Ground, base: KnowledgeBase, path: Path) -> float:
    started = time.perf_counter()
    answer = await on.client.documents.upload(path, knowledge_base_id=base.id)
    seconds = time.perf_counter() - started
    assert not answer.already_present
    return seconds


async def _floor(source: Path, target: Path) -> float:
    return hash_and_copy(source, target)


def _part(seconds: dict[str, list[float]], computed: list[float], plan: Plan) -> Part:
    rates = {
        name: Series(name, "MiB/s", [plan.file_mib / value for value in values])
        for name, values in seconds.items()
    }
    ours = rates["upload"]
    return Part(
        NAME,
        f"Upload of one file of {plan.file_mib} MiB",
        [*rates.values(), Series("upload_cpu", "ms/MiB", milliseconds_each(computed, plan.file_mib))],
        [
            Ratio("upload / sha256_and_copy", ours, rates["sha256_and_copy"]),
            Ratio("upload / grpc_sink", ours, rates["grpc_sink"]),
        ],
        [
            "The floor hashes and copies once, in one process; an upload hashes at both ends and crosses a socket."
        ],
    )
