"""Runs the gateway: `python -m services.gateway`."""

import asyncio

from services.gateway.app import main

asyncio.run(main())
