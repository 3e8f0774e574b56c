import asyncio

import pytest

from services.shared.endings import to_the_end


class Work:
    """Takes as long as it is told to, then returns, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.ended = False
        self._error = error

    async def run(self) -> str:
        self.begun.set()
        await self.go_on.wait()
        self.ended = True
        if self._error is not None:
            raise self._error
        return "done"


async def test_what_is_not_cancelled_returns_and_fails_as_it_does() -> None:
    work, failing = Work(), Work(KeyError())
    work.go_on.set()
    failing.go_on.set()
    assert await to_the_end(work.run()) == "done"
    with pytest.raises(KeyError):
        await to_the_end(failing.run())


@pytest.mark.parametrize("error", [None, KeyError()])
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_however_often_it_is_cancelled_work_ends_before_that_is_raised(
    times: int, error: Exception | None
) -> None:
    work = Work(error)
    task = asyncio.create_task(to_the_end(work.run()))
    await work.begun.wait()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
    work.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.ended


async def test_work_that_ends_by_a_cancellation_of_its_own_says_so() -> None:
    work = Work()
    task = asyncio.create_task(to_the_end(work.run()))
    await work.begun.wait()
    (inner,) = asyncio.all_tasks() - {task, asyncio.current_task()}
    inner.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not work.ended
