"""Runs upload: `python -m services.upload`."""

from services.shared.entry import run
from services.upload import app

if __name__ == "__main__":
    run(app.SERVICE, app.main)
