"""What a request id stands for, and for how long."""

import asyncio
from uuid import UUID, uuid4

import pytest

from acervo.ingest.v1.documents_pb2 import DeleteDocumentRequest as Deletion
from acervo.ingest.v1.documents_pb2 import Document, RetryDocumentRequest, RetryDocumentResponse
from services.shared import auth, idempotency
from services.shared.auth import Principal, PrincipalKind
from services.shared.db import Connection, Pool
from services.shared.errors import FieldsInvalid, NotFound, RequestIdReused
from services.shared.idempotency import Call, answered, once

ANA, BEA = UUID(int=1), UUID(int=2)


def _person(user_id: UUID) -> Principal:
    return Principal(PrincipalKind.USER, "ana", user_id, None, None, "token")


class Counter:
    """Mutations that answer how many of them were done."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.done = 0

    async def ask(self, request: RetryDocumentRequest, caller: Principal | None = None) -> int:
        auth.enter(caller or _person(ANA))
        answer = await once(self._pool, Call.of(request), RetryDocumentResponse, self._work)
        return answer.document.attempt

    async def _work(self, connection: Connection) -> RetryDocumentResponse:
        self.done += 1
        await asyncio.sleep(0)
        return RetryDocumentResponse(document=Document(attempt=self.done))


@pytest.fixture
def counter(pool: Pool) -> Counter:
    return Counter(pool)


def _request(request_id: str, document_id: str = "a") -> RetryDocumentRequest:
    return RetryDocumentRequest(request_id=request_id, document_id=document_id)


async def test_a_request_is_done_once_however_often_it_is_made_at_once(counter: Counter) -> None:
    request = _request(str(uuid4()))
    assert await asyncio.gather(*(counter.ask(request) for _ in range(5))) == [1] * 5


async def test_a_request_without_an_id_is_done_each_time(counter: Counter) -> None:
    assert [await counter.ask(_request("")) for _ in range(2)] == [1, 2]


async def test_an_id_for_another_request_is_refused(counter: Counter, pool: Pool) -> None:
    request_id = str(uuid4())
    await counter.ask(_request(request_id))
    with pytest.raises(RequestIdReused):
        await counter.ask(_request(request_id, "b"))
    other_method = Call.of(Deletion(request_id=request_id, document_id="a"))
    with pytest.raises(RequestIdReused):
        await answered(pool, other_method, RetryDocumentResponse)


async def test_ids_of_different_callers_never_meet(counter: Counter) -> None:
    request = _request(str(uuid4()))
    agent = Principal(PrincipalKind.AGENT, "ana", ANA, UUID(int=3), None, "token")
    service = Principal(PrincipalKind.SERVICE, "acervo:sync", None, None, "sync", "token")
    callers = (_person(ANA), _person(BEA), agent, service)
    assert [await counter.ask(request, caller) for caller in callers] == [1, 2, 3, 4]


async def test_ids_of_an_agent_never_meet_for_two_whom_it_acts_for(counter: Counter) -> None:
    request = _request(str(uuid4()))
    agents = [
        Principal(PrincipalKind.AGENT, "a", person, UUID(int=7), None, "token") for person in (ANA, BEA)
    ]
    assert [await counter.ask(request, agent) for agent in (*agents, agents[0])] == [1, 2, 1]


async def test_what_fails_leaves_the_id_free(counter: Counter, pool: Pool) -> None:
    async def fail(connection: Connection) -> RetryDocumentResponse:
        raise NotFound("document")

    auth.enter(_person(ANA))
    request = _request(str(uuid4()))
    with pytest.raises(NotFound):
        await once(pool, Call.of(request), RetryDocumentResponse, fail)
    assert await answered(pool, Call.of(request), RetryDocumentResponse) is None
    assert await counter.ask(request) == 1


async def test_an_answer_is_forgotten_after_its_days_and_not_before(counter: Counter, pool: Pool) -> None:
    request = _request(str(uuid4()))
    await counter.ask(request)
    await idempotency.forget(pool, 7)
    assert await counter.ask(request) == 1
    await pool.execute("UPDATE requests SET created_at = now() - interval '8 days'")
    await idempotency.forget(pool, 7)
    assert await counter.ask(request) == 2


async def test_an_id_that_is_no_uuid_is_refused_by_its_field() -> None:
    with pytest.raises(FieldsInvalid) as refused:
        Call.of(_request("x"))
    assert [violation.path for violation in refused.value.fields] == ["request_id"]
