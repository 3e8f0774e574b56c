"""How long a person waits for one small document on an idle stack, and which part of the path takes how long.

Deferred triggers in the databases of services write down when each step is committed; the services know nothing of it.
"""

import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import asyncpg

from bench.figures import Part, Series, Step
from bench.ground import Ground, ground
from bench.plan import Plan
from bench.texts import Corpus

NAME = "latency"
_CHARACTERS = 2000
_WARM_UP = 5

# Each mark, and what leads to it from the one before.
_PATH = {
    "ingest.parse.waiting": "",
    "ingest.parse.sent": "admit: dispatcher wakes, sends",
    "ingest.parse.running": "to parse: relay wakes, broker, claim",
    "ingest.parse.ended": "parse: fetch, read, cut, two blobs, commit",
    "vectorstore.embed.running": "to embed: relay wakes, broker, claim",
    "vectorstore.embed.ended": "embed: fetch, access, embed, store, commit",
    "ingest.document.done": "to done: relay wakes, broker, commit",
}
_TELL = "tell: listener wakes, read, stream"

_MARKS = """
CREATE SCHEMA bench;
CREATE TABLE bench.marks (document_id uuid, mark text, at double precision);
CREATE FUNCTION bench.job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO bench.marks VALUES (
        NEW.id, concat_ws('.', TG_TABLE_SCHEMA, NEW.stage, NEW.state), extract(epoch FROM clock_timestamp())
    );
    RETURN NULL;
END $$;
CREATE FUNCTION bench.document() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO bench.marks VALUES (
        NEW.id, 'ingest.document.' || NEW.state, extract(epoch FROM clock_timestamp())
    );
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER bench_mark AFTER INSERT OR UPDATE ON ingest.jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bench.job();
CREATE CONSTRAINT TRIGGER bench_mark AFTER INSERT OR UPDATE ON vectorstore.jobs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bench.job();
CREATE CONSTRAINT TRIGGER bench_mark AFTER UPDATE ON ingest.documents
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bench.document();
"""
_READ = "SELECT mark, min(at) AS at FROM bench.marks WHERE document_id = $1 GROUP BY mark"


def steps(plan: Plan) -> int:
    """How many steps `measure` takes."""
    return plan.small_documents


async def measure(plan: Plan, corpus: Corpus, step: Step) -> Part:
    """Upload small documents one after another, each when the one before is done."""
    measured: list[Mapping[str, float]] = []
    async with ground("access", "upload", "ingest", "vectorstore") as on, _marks(on) as marks:
        base = await on.base("latency")
        for number in range(_WARM_UP + plan.small_documents):
            path = on.folder / f"small-{number}.txt"
            path.write_text(corpus.document(number)[:_CHARACTERS])
            document = await _one(on, base.id, path, marks)
            if number >= _WARM_UP:
                measured.append(document)
                step()
    series = [Series(name, "ms", [document[name] for document in measured]) for name in measured[0]]
    title = f"One document of {_CHARACTERS} characters on an idle stack, {len(measured)} of them in turn"
    return Part(
        NAME, title, series, [], ["The steps after the answer overlap with it: admission starts before."]
    )


@contextlib.asynccontextmanager
async def _marks(on: Ground) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(on.stack.admin_database_url)
    await connection.execute(_MARKS)
    try:
        yield connection
    finally:
        await connection.close()


async def _one(on: Ground, base_id: str, path: Path, marks: asyncpg.Connection) -> dict[str, float]:
    """Return the milliseconds of each part of one document's way."""
    started = time.time()
    answer = await on.client.documents.upload(path, knowledge_base_id=base_id)
    answered = time.time()
    async for _ in on.client.documents.watch([answer.document.id]):
        pass
    told = time.time()
    rows = await marks.fetch(_READ, UUID(answer.document.id))
    at = {row["mark"]: row["at"] for row in rows}
    parts = {
        "upload, until answered": answered - started,
        "answered until told of done": told - answered,
    }
    for before, after in pairwise(_PATH):
        parts[_PATH[after]] = at[after] - at[before]
    parts[_TELL] = told - at["ingest.document.done"]
    return {name: seconds * 1000 for name, seconds in parts.items()}
