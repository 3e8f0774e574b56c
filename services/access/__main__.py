"""Runs access: `python -m services.access`."""

from services.access import app
from services.shared.entry import run

if __name__ == "__main__":
    run(app.SERVICE, app.main)
