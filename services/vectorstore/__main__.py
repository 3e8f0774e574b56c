"""Runs vectorstore: `python -m services.vectorstore`."""

from services.shared.entry import run
from services.vectorstore import app

if __name__ == "__main__":
    run(app.SERVICE, app.main)
