"""How many documents are under way at once, and how parser slots are shared between lanes."""

from services.ingest.works import PARSE_STAGE
from services.shared.admission import Policy, Window
from services.shared.bus import Lane


def policy(*, bulk_in_flight: int, interactive_in_flight: int) -> Policy:
    """Admit bulk documents in turns within one window for all; people's skip it, under a cap for each tenant.

    A document is in flight from its admission until it is terminal.
    """
    return Policy(
        PARSE_STAGE,
        interactive=Window(tenant=interactive_in_flight),
        bulk=Window(total=bulk_in_flight),
    )


def slots(lane: Lane, parsers: int) -> int:
    """How many of a process's parsers a lane may hold: bulk leaves one to people where there are several."""
    return parsers if lane is Lane.INTERACTIVE else max(1, parsers - 1)
