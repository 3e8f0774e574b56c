"""A disk without room, as the system itself has one."""

from pathlib import Path


def full_device(target: Path) -> Path:
    """Where to write what shall become `target`: a link to the device that is always full."""
    link = target.with_name(f"{target.name}#full")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to("/dev/full")
    return link
