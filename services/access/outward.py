"""Addresses that somebody typed, checked before they are kept."""

from services.shared.egress import Allowed, Blocked, check, parse_address
from services.shared.errors import FieldsInvalid, FieldViolation


async def check_outward(path: str, url: str, allowed: Allowed) -> None:
    """Raise FieldsInvalid where a well-formed address leads where no tenant's may lead, or nowhere."""
    address = parse_address(url)
    try:
        await check(address.host, address.port, allowed)
    except Blocked:
        message = "This must resolve to a public address, or one that the admin opened (ACERVO_EGRESS_ALLOW)."
        raise FieldsInvalid([FieldViolation(path, message)]) from None
