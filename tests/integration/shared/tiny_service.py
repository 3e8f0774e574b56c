"""A service with one handler, run as a process of its own.

The handler notes in `leases` that it started with a message, waits until the note `go` is there, and notes its end.
"""

import asyncio

from services.shared.admission import Policy
from services.shared.broker import Delivery
from services.shared.runtime import Runtime
from services.shared.settings import ServiceSettings

_NOTE = "INSERT INTO leases VALUES ($1, '', now()) ON CONFLICT DO NOTHING"


async def main() -> None:
    async with Runtime.open(ServiceSettings.model_validate({}), "ingest") as runtime:

        async def handler(delivery: Delivery) -> None:
            name = delivery.data.decode()
            await runtime.pool.execute(_NOTE, f"started:{name}")
            while not await runtime.pool.fetchval("SELECT true FROM leases WHERE name = 'go'"):  # noqa: ASYNC110 - the note comes from another process
                await asyncio.sleep(0.02)
            await runtime.pool.execute(_NOTE, f"ended:{name}")

        await runtime.serve([], {})
        runtime.background(Policy("parse"))
        runtime.consume("parse-bulk", handler, slots=1)
        await runtime.run()


asyncio.run(main())
