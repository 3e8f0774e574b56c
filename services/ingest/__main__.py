"""Runs ingest: `python -m services.ingest`."""

from services.ingest import app
from services.shared.entry import run

if __name__ == "__main__":
    run(app.SERVICE, app.main)
