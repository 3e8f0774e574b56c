"""Runs access: `python -m services.access`."""

import asyncio

from services.access.app import main

asyncio.run(main())
