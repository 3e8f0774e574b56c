"""How many documents are under way at once."""

from services.ingest.works import PARSE_STAGE
from services.shared.admission import Policy, Window


def policy(*, bulk_in_flight: int, interactive_in_flight: int) -> Policy:
    """Admit bulk documents in turns within one window for all; people's skip it, under a cap for each tenant.

    A document is in flight from its admission until it is terminal.
    """
    return Policy(
        PARSE_STAGE,
        interactive=Window(tenant=interactive_in_flight),
        bulk=Window(total=bulk_in_flight),
    )
