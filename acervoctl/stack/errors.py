"""What can keep a local stack from running, told to the person who started it."""

from pathlib import Path

from acervo_client.local import LocalStackError


class StackError(LocalStackError):
    """The local stack cannot do what was asked."""


class HomeBusy(StackError):
    """Another process runs a stack in the same home."""

    def __init__(self, home: Path, pid: int) -> None:
        self.pid = pid
        super().__init__(
            f"a stack runs in {home} already (pid {pid or 'unknown'})",
            "Use or stop that one, or name another --home.",
        )


class HomeUnusable(StackError):
    """The home cannot be made, entered or written."""


class PartMissing(StackError):
    """A program that the stack needs is not installed."""


class StartFailed(StackError):
    """A process of the stack does not become ready. `log` is the end of what it wrote."""

    def __init__(self, name: str, why: str, log: str = "") -> None:
        self.name = name
        self.log = log
        advice = (
            f"Mend what its log tells, which ends with:\n{log}" if log else "Look at the logs in its home."
        )
        super().__init__(f"{name} {why}", advice)
