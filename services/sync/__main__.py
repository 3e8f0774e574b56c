"""`python -m services.sync`."""

import asyncio

from services.sync.app import main

asyncio.run(main())
