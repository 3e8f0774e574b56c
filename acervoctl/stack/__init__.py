"""A whole Acervo on one machine, as a library: `async with Stack(home, options) as stack: ...`."""

from acervoctl.stack.errors import HomeBusy, HomeUnusable, PartMissing, StackError, StartFailed
from acervoctl.stack.home import Home, temporary_home
from acervoctl.stack.services import FAST_DEADLINES
from acervoctl.stack.stack import Options, Stack

__all__ = [
    "FAST_DEADLINES",
    "Home",
    "HomeBusy",
    "HomeUnusable",
    "Options",
    "PartMissing",
    "Stack",
    "StackError",
    "StartFailed",
    "temporary_home",
]
