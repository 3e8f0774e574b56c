"""The models of this process, each behind a queue: questions before documents, small batches, a bounded wait."""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from typing import Any, Protocol

import numpy as np

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError, Overloaded, Unavailable
from services.vectorstore.embedding.child import ChildDied, ModelChild
from services.vectorstore.models import EmbeddingModel, ModelSpec, Space, Vectors, WidthMismatch, find

_WAITING_QUESTIONS = 256
# A question waits for one batch at most: about 50 ms of the default model.
_BATCH_CHARACTERS = 4000
_BATCH_TEXTS = 32


class Urgency(IntEnum):
    """Who goes first."""

    QUESTION = 0
    INTERACTIVE = 1
    BULK = 2


class EmbeddingFailed(AcervoError):
    """The model failed on these texts. It may succeed another time."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_EMBEDDING_FAILED)


class _Embedder(Protocol):
    async def question(self, text: str) -> Vectors: ...

    async def documents(self, texts: Sequence[str], urgency: Urgency) -> Vectors: ...

    async def close(self) -> None: ...


class Embedders:
    """All models of this process. A model is loaded when it is first asked for."""

    def __init__(self) -> None:
        self._running: dict[str, _Embedder] = {}

    async def embed_query(self, space: Space, text: str) -> Vectors:
        """Return a question's vector.

        Raises:
            ModelUnavailable, WidthMismatch: there is no such model here.
            Overloaded: too many questions wait.
            Unavailable: the model failed; asking again may help.
        """
        vector: Vectors = (await self._embedder(find(space)).question(text))[0]
        return vector

    async def embed_documents(self, space: Space, texts: Sequence[str], urgency: Urgency) -> Vectors:
        """Return one vector a text.

        Raises:
            ModelUnavailable, EmbeddingFailed, WidthMismatch: there are none.
        """
        vectors = await self._embedder(find(space)).documents(texts, urgency)
        if vectors.shape != (len(texts), space.width):
            raise WidthMismatch
        return vectors

    async def close(self) -> None:
        """End all child processes."""
        for embedder in self._running.values():
            await embedder.close()

    def _embedder(self, spec: ModelSpec) -> _Embedder:
        embedder = self._running.get(spec.name)
        if embedder is None:
            embedder = self._running[spec.name] = _Inline(spec.load()) if spec.cheap else _Queued(spec)
        return embedder


class _Inline:
    """A model that costs next to nothing, run where it is called; documents in a thread, one batch at a time."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    async def question(self, text: str) -> Vectors:
        return self._model.embed_query(text)[None, :]

    async def documents(self, texts: Sequence[str], urgency: Urgency) -> Vectors:
        return await asyncio.to_thread(self._model.embed_documents, texts)

    async def close(self) -> None:
        pass


@dataclass(order=True, slots=True)
class _Request:
    urgency: Urgency
    number: int
    body: dict[str, Any] = field(compare=False)
    answer: "asyncio.Future[Vectors]" = field(compare=False)


class _Queued:
    """A model in a child process, fed one batch at a time in order of urgency."""

    def __init__(self, spec: ModelSpec) -> None:
        self._child = ModelChild(spec)
        self._requests: asyncio.PriorityQueue[_Request] = asyncio.PriorityQueue()
        self._numbers = count()
        self._questions = 0
        self._feeding = asyncio.create_task(self._feed(), name=f"model {spec.name}")

    async def question(self, text: str) -> Vectors:
        if self._questions >= _WAITING_QUESTIONS:
            raise Overloaded
        self._questions += 1
        try:
            return await self._ask({"query": text}, Urgency.QUESTION)
        except ChildDied:
            raise Unavailable from None
        finally:
            self._questions -= 1

    async def documents(self, texts: Sequence[str], urgency: Urgency) -> Vectors:
        try:
            answers = [await self._ask({"documents": batch}, urgency) for batch in _batches(texts)]
        except ChildDied:
            raise EmbeddingFailed from None
        return np.concatenate(answers)

    async def close(self) -> None:
        self._feeding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._feeding
        await self._child.close()

    async def _ask(self, body: dict[str, Any], urgency: Urgency) -> Vectors:
        answer: asyncio.Future[Vectors] = asyncio.get_running_loop().create_future()
        self._requests.put_nowait(_Request(urgency, next(self._numbers), body, answer))
        return await answer

    async def _feed(self) -> None:
        while True:
            request = await self._requests.get()
            if request.answer.done():  # whoever asked went away
                continue
            try:
                vectors = await self._child.ask(request.body)
            except asyncio.CancelledError:
                request.answer.cancel()
                raise
            except Exception as error:  # noqa: BLE001 - whoever asked gets it
                _resolve(request.answer, error)
            else:
                _resolve(request.answer, vectors)


def _resolve(answer: "asyncio.Future[Vectors]", outcome: Vectors | Exception) -> None:
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Cut texts into batches of a bounded number of characters, one text at least."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (characters + len(text) > _BATCH_CHARACTERS or len(batch) == _BATCH_TEXTS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
