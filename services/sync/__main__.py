"""Runs sync: `python -m services.sync`."""

from services.shared.entry import run
from services.sync import app

if __name__ == "__main__":
    run(app.SERVICE, app.main)
