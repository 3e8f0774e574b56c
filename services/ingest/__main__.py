"""Runs the service: `python -m services.ingest`."""

import asyncio

from services.ingest import app

if __name__ == "__main__":
    asyncio.run(app.main())
