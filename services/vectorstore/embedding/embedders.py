"""The models of this process, each behind a line: questions before documents, small batches, a turn for everybody."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError, Overloaded, Unavailable
from services.vectorstore.embedding.child import ChildDied, ModelChild
from services.vectorstore.embedding.line import Line, Urgency
from services.vectorstore.models import ModelSpec, Space, Vectors, WidthMismatch, find
from services.vectorstore.spelling import bounded

_WAITING_QUESTIONS = 256
_WAITING_QUESTIONS_EACH = 8
_BATCH_TEXTS = 32
# Windows of a model that are read of a document's text. What is beyond is found by its words alone.
_WINDOWS = 4


class EmbeddingFailed(AcervoError):
    """The model failed on these texts. It may succeed another time."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_EMBEDDING_FAILED)


class _Embedder(Protocol):
    async def question(self, text: str, asker: str) -> Vectors: ...

    async def documents(self, texts: Sequence[str], urgency: Urgency, asker: str) -> Vectors: ...

    async def close(self) -> None: ...


class Embedders:
    """All models of this process. A model is loaded when it is first asked for."""

    def __init__(self) -> None:
        self._running: dict[str, _Embedder] = {}

    async def embed_query(self, space: Space, text: str, asker: str) -> Vectors:
        """Return the vector of a question, or of its beginning where it is longer than the model's window.

        `asker` is whom it is for: turns are given round robin between them.

        Raises:
            ModelUnavailable, WidthMismatch: there is no such model here.
            Overloaded: too many questions wait, of this asker or of all.
            Unavailable: the model failed; asking again may help.
        """
        spec = find(space)
        vector: Vectors = (await self._embedder(spec).question(bounded(text, spec.window), asker))[0]
        return vector

    async def embed_documents(
        self, space: Space, texts: Sequence[str], urgency: Urgency, asker: str
    ) -> Vectors:
        """Return one vector a text. Of a text that is longer than four windows of the model the beginning counts.

        Raises:
            ModelUnavailable, EmbeddingFailed, WidthMismatch: there are none.
        """
        spec = find(space)
        vectors = await self._embedder(spec).documents(texts, urgency, asker)
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
            embedder = self._running[spec.name] = _Inline(spec) if spec.cheap else _Queued(spec)
        return embedder


class _Inline:
    """A model that costs next to nothing, run where it is called; documents in a thread, one batch at a time."""

    def __init__(self, spec: ModelSpec) -> None:
        self._model = spec.load()
        self._window = spec.window

    async def question(self, text: str, asker: str) -> Vectors:
        return self._model.embed_query(text)[None, :]

    async def documents(self, texts: Sequence[str], urgency: Urgency, asker: str) -> Vectors:
        return await asyncio.to_thread(
            lambda: self._model.embed_documents([_read(text, self._window) for text in texts])
        )

    async def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _Request:
    body: dict[str, Any]
    answer: "asyncio.Future[Vectors]"


class _Queued:
    """A model in a child process, fed one batch at a time."""

    def __init__(self, spec: ModelSpec) -> None:
        self._child = ModelChild(spec)
        self._line: Line[_Request] = Line()
        self._asked = asyncio.Event()
        self._questions: Counter[str] = Counter()
        self._window = spec.window
        self._feeding = asyncio.create_task(self._feed(), name=f"model {spec.name}")

    async def question(self, text: str, asker: str) -> Vectors:
        waiting = self._questions
        if waiting.total() >= _WAITING_QUESTIONS or waiting[asker] >= _WAITING_QUESTIONS_EACH:
            raise Overloaded
        waiting[asker] += 1
        try:
            return await self._ask({"query": text}, Urgency.QUESTION, asker)
        except ChildDied:
            raise Unavailable from None
        finally:
            waiting[asker] -= 1
            if not waiting[asker]:
                del waiting[asker]

    async def documents(self, texts: Sequence[str], urgency: Urgency, asker: str) -> Vectors:
        try:
            answers = [
                await self._ask({"documents": batch}, urgency, asker)
                for batch in _batches(texts, self._window)
            ]
        except ChildDied:
            raise EmbeddingFailed from None
        return np.concatenate(answers)

    async def close(self) -> None:
        self._feeding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._feeding
        await self._child.close()

    async def _ask(self, body: dict[str, Any], urgency: Urgency, asker: str) -> Vectors:
        answer: asyncio.Future[Vectors] = asyncio.get_running_loop().create_future()
        self._line.put(urgency, asker, _Request(body, answer))
        self._asked.set()
        return await answer

    async def _feed(self) -> None:
        while True:
            while not self._line:
                self._asked.clear()
                await self._asked.wait()
            request = self._line.take()
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


def _read(text: str, window: int) -> str:
    """Return what a model reads of a document's text."""
    return bounded(text, _WINDOWS * window)


def _batches(texts: Iterable[str], window: int) -> Iterator[list[str]]:
    """Cut texts into batches of a window each, one text at least."""
    batch: list[str] = []
    held = 0
    for text in (_read(text, window) for text in texts):
        size = len(text.encode())
        if batch and (held + size > window or len(batch) == _BATCH_TEXTS):
            yield batch
            batch, held = [], 0
        batch.append(text)
        held += size
    if batch:
        yield batch
