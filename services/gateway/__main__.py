"""Runs the gateway: `python -m services.gateway`."""

from services.gateway import app
from services.shared.entry import run

if __name__ == "__main__":
    run(app.SERVICE, app.main)
