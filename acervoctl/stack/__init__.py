"""A whole Acervo on one machine, as a library: `async with Stack(home, options) as stack: ...`."""

from acervoctl.stack.description import Description
from acervoctl.stack.errors import HomeBusy, HomeUnusable, NotRunning, PartMissing, StackError, StartFailed
from acervoctl.stack.home import Home, default_home, temporary_home
from acervoctl.stack.services import FAST_DEADLINES
from acervoctl.stack.stack import Options, Stack

__all__ = [
    "FAST_DEADLINES",
    "Description",
    "Home",
    "HomeBusy",
    "HomeUnusable",
    "NotRunning",
    "Options",
    "PartMissing",
    "Stack",
    "StackError",
    "StartFailed",
    "default_home",
    "temporary_home",
]
