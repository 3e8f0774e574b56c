"""Runs the service: `python -m services.vectorstore`."""

import asyncio

from services.vectorstore import app

if __name__ == "__main__":
    asyncio.run(app.main())
