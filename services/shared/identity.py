"""What tokens say of whoever holds them. Light: the client and the command line import it too."""

from typing import Final
from uuid import NAMESPACE_URL, UUID, uuid5

AUDIENCE: Final = "acervo"
"""Whom people's and agents' tokens are for."""
AGENT_CLAIM: Final = "acervo_agent"


def user_id(issuer: str, subject: str) -> UUID:
    """The id of a person, the same for ever: derived from who vouches for them and under what name."""
    return uuid5(NAMESPACE_URL, f"{issuer}\n{subject}")


def service_audience(service: str) -> str:
    """What a service's token must name to be taken by `service`."""
    return f"{AUDIENCE}-{service}"
