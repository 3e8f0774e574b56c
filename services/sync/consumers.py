"""What sync hears: runs to carry out, documents that ended or went, bases that were deleted or emptied."""

import logging
from uuid import UUID

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.events.v1 import facts_pb2 as facts
from acervo.events.v1.work_pb2 import RunSource
from services.shared import bases, jobs, outbox
from services.shared.broker import Delivery, read_id
from services.shared.bus import teardown_answered
from services.shared.db import Pool
from services.shared.errors import AcervoError, meaning
from services.shared.jobs import Claim, Count, Held, LeaseLost
from services.shared.runtime import Runtime
from services.shared.translation import translate
from services.sync import claims, files, runs, sources
from services.sync.local_directory import open_directory
from services.sync.passes import PASSING, Means, Pass
from services.sync.peers import document_gone
from services.sync.reach import Reach
from services.sync.settings import SyncSettings

log = logging.getLogger(__name__)

# What ends a run at once. Every other reason is met again later, so many times.
_FINAL = frozenset(
    {
        pb.ERROR_REASON_SOURCE_UNREADABLE,
        pb.ERROR_REASON_SOURCE_FORBIDDEN,
        pb.ERROR_REASON_OWNER_LOST_ACCESS,
        pb.ERROR_REASON_BASE_DELETED,
        pb.ERROR_REASON_JOB_ABANDONED,
    }
)
MOST_TRIES = 20
"""For what passes: with the pauses between them, more than an hour."""
MOST_TRIES_OF_OTHERS = 5


class RunWorker:
    """Carries out runs whose messages come."""

    def __init__(self, runtime: Runtime, settings: SyncSettings, means: Means, reach: Reach) -> None:
        self._runtime = runtime
        self._settings = settings
        self._means = means
        self._reach = reach
        self._pool = runtime.pool

    async def handle(self, delivery: Delivery) -> None:
        """Claim the run and take it to its end, or put it off."""
        message = RunSource.FromString(delivery.data)
        settings = self._settings
        claim = await jobs.claim(
            self._pool,
            read_id(message.run_id),
            runs.STAGE,
            message.attempt,
            worker=self._runtime.worker,
            lease_seconds=settings.lease_seconds,
        )
        if not isinstance(claim, Claim):
            log.debug("run %s: %s", message.run_id, claim.value)
            return
        lease, heartbeat = settings.lease_seconds, settings.heartbeat_seconds
        try:
            async with Held(self._pool, claim, lease_seconds=lease, heartbeat_seconds=heartbeat):
                await self._carry_out(claim)
        except LeaseLost:
            log.info("run %s was taken over", claim.id)

    async def _carry_out(self, claim: Claim) -> None:
        try:
            if claim.abandoned:
                raise AcervoError(pb.ERROR_REASON_JOB_ABANDONED)
            await self._pass(claim.id)
        except Exception as error:
            failure = translate(error)
            if failure.reason not in _FINAL and not _exhausted(claim, failure):
                log.warning("run %s is put off: %s", claim.id, failure, exc_info=_trace(error, failure))
                await self._postpone(claim)
                return
            log.warning("run %s failed: %s", claim.id, failure, exc_info=_trace(error, failure))
            await self._end(claim, failure)
        else:
            await self._end(claim, None)

    async def _pass(self, run_id: UUID) -> None:
        run = await runs.find(self._pool, run_id)
        source = None if run is None else await sources.find(self._pool, run.source_id)
        if run is None or source is None:
            return  # deleted meanwhile, and its job with it
        async with self._pool.acquire() as connection, connection.transaction():
            await bases.hold(connection, run.knowledge_base_id, run.id)
        await self._reach.authorise_owner(run.knowledge_base_id, source.owner_user_id)
        async with open_directory(source.directory, self._settings.sync_roots) as connector:
            with self._runtime.listener.signal(files.CHANNEL) as ended:
                await Pass(self._means, source, run, connector, ended).carry_out()

    async def _end(self, claim: Claim, failure: AcervoError | None) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            await runs.complete(connection, claim.id, failure)
            await jobs.end(connection, claim)

    async def _postpone(self, claim: Claim) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            await jobs.postpone(connection, claim, jobs.backoff(claim.tries + 1), Count.TRY)


class FactListener:
    """Keeps runs, claims and sources true to what happens elsewhere. Every handler may run twice."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def document_finished(self, delivery: Delivery) -> None:
        """A run may have waited for it."""
        fact = facts.DocumentFinished.FromString(delivery.data)
        failure = None if fact.done else AcervoError(fact.reason, meaning(fact.reason).message)
        async with self._pool.acquire() as connection, connection.transaction():
            await files.finished(connection, read_id(fact.document_id), failure)

    async def document_deleted(self, delivery: Delivery) -> None:
        """Nothing is claimed any more of what is gone."""
        document_id = read_id(facts.DocumentDeleted.FromString(delivery.data).document_id)
        async with self._pool.acquire() as connection, connection.transaction():
            await files.finished(connection, document_id, document_gone())
            await claims.forget_document(connection, document_id)

    async def base_deleted(self, delivery: Delivery) -> None:
        """Its sources are parted from it and keep their configuration, or go with those whose they were."""
        fact = facts.BaseDeleted.FromString(delivery.data)
        base_id = read_id(fact.knowledge_base_id)
        async with self._pool.acquire() as connection:
            await bases.bury(connection, base_id)
            async with connection.transaction():
                await claims.forget_base(connection, base_id)
                if fact.owner_gone:
                    await jobs.forget(connection, await sources.delete_of_base(connection, base_id))
                else:
                    await sources.detach(connection, base_id)
                await outbox.announce(connection, teardown_answered("sync"), _answer(fact.teardown_id))

    async def base_emptied(self, delivery: Delivery) -> None:
        """Its sources stay, and bring everything anew."""
        fact = facts.BaseEmptied.FromString(delivery.data)
        base_id, before = read_id(fact.knowledge_base_id), read_id(fact.emptied_before)
        async with self._pool.acquire() as connection:
            await bases.empty(connection, base_id, before)
            async with connection.transaction():
                await claims.forget_base(connection, base_id, before)
                await outbox.announce(connection, teardown_answered("sync"), _answer(fact.teardown_id))


def _exhausted(claim: Claim, failure: AcervoError) -> bool:
    return claim.tries + 1 >= (MOST_TRIES if failure.reason in PASSING else MOST_TRIES_OF_OTHERS)


def _trace(error: Exception, failure: AcervoError) -> Exception | None:
    return error if failure.reason == pb.ERROR_REASON_INTERNAL else None


def _answer(teardown_id: str) -> facts.TeardownAnswered:
    return facts.TeardownAnswered(teardown_id=teardown_id, service="sync")
