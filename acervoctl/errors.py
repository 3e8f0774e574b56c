"""How a command ends badly: one line and an exit status."""

from enum import IntEnum


class Exit(IntEnum):
    """What the exit status of every command means."""

    DONE = 0
    FAILED = 1
    """It was carried out, and some of what it was given was refused or failed."""
    UNUSABLE = 2
    """It could not be carried out: wrong usage, nothing there by that name, no access, no connection."""
    INTERRUPTED = 130
    """Ctrl-C."""
    UNREAD = 141
    """Whoever read its output went away, as `head` does; nothing is said."""


class CommandError(Exception):
    """A command cannot go on. `advice` says what the person may do about it; `reason` is for scripts."""

    def __init__(
        self, message: str, *, advice: str, reason: str = "USAGE", status: Exit = Exit.UNUSABLE
    ) -> None:
        self.message = message
        self.advice = advice
        self.reason = reason
        self.status = status
        super().__init__(message)


def interrupted(goes_on: str = "", look: str = "") -> CommandError:
    """Ctrl-C. `goes_on` says what does not end with the command, `look` the command that shows it."""
    return CommandError(
        f"interrupted: {goes_on}" if goes_on else "interrupted",
        advice=f"`{look}` shows what comes of it." if goes_on else "Run it again; nothing of it goes on.",
        reason="INTERRUPTED",
        status=Exit.INTERRUPTED,
    )
