"""Amounts of money: whole micro-dollars, millionths of a US dollar, so that nothing is ever rounded."""

from typing import Final

MICROS: Final = 1_000_000
"""A dollar."""


def dollars(micros: int) -> str:
    """An amount as people read it: to the cent, or as exactly as it is. Example: `$40.15`."""
    whole, rest = divmod(micros, MICROS)
    return f"${whole}.{f'{rest:06d}'.rstrip('0'):0<2}"
