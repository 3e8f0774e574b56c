"""What a request id stands for, and for how long."""

from uuid import uuid4

from services.access import idempotency
from services.shared.db import Pool
from tests.integration.access.callers import Access, refusal


async def test_an_answer_is_forgotten_after_its_days_and_not_before(access: Access, pool: Pool) -> None:
    request_id = str(uuid4())
    first = await access.base("ana", request_id=request_id)
    await idempotency.forget(pool, 7)
    assert (await access.base("ana", request_id=request_id)).id == first.id
    await pool.execute("UPDATE requests SET create_time = now() - interval '8 days'")
    await idempotency.forget(pool, 7)
    assert (await access.base("ana", request_id=request_id)).id != first.id


async def test_what_fails_leaves_no_trace(access: Access, pool: Pool) -> None:
    made = await access.base("ana")
    request_id = str(uuid4())
    await refusal(access.delete("bea", made.id, request_id))
    assert await pool.fetchval("SELECT count(*) FROM requests") == 0
    await access.delete("ana", made.id, request_id)
