"""Runs upload: `python -m services.upload`."""

import asyncio

from services.upload.app import main

asyncio.run(main())
