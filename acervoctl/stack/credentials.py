"""The passwords of a home: made once, kept in one private file."""

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from acervoctl.stack.home import write_private
from services.shared.bootstrap import SERVICES


@dataclass(frozen=True, slots=True)
class Credentials:
    """Passwords: of PostgreSQL's superuser, and of each service's role and NATS user."""

    superuser: str
    roles: dict[str, str]
    bus: dict[str, str]

    @classmethod
    def load_or_create(cls, path: Path) -> "Credentials":
        """Read the file, or make it with fresh passwords."""
        if path.exists():
            return cls(**json.loads(path.read_text()))
        made = cls(
            superuser=secrets.token_urlsafe(24),
            roles={service: secrets.token_urlsafe(24) for service in SERVICES},
            bus={service: secrets.token_urlsafe(24) for service in SERVICES},
        )
        write_private(path, json.dumps(asdict(made), indent=2))
        return made

    def __repr__(self) -> str:
        return "Credentials(...)"
