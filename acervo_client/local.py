"""The local stack of this machine as its clients see it: where it is, who answers where, and a token.

Whoever can read the keys of a home can act as anybody in its stack.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.shared.identity import AGENT_CLAIM, AUDIENCE

PEOPLE = "acervo-local"
"""The issuer of people's tokens."""

ADMIN = "admin"
"""The subject that a local stack takes for its admin: whoever started it."""

PERSON_TOKEN_SECONDS = 12 * 3600


class LocalStackError(Exception):
    """There is no local stack to be used. `message` says why and `advice` the way on; as text it is both."""

    def __init__(self, message: str, advice: str) -> None:
        self.message = message
        self.advice = advice
        super().__init__(f"{message}. {advice}")


class NotRunning(LocalStackError):
    """No stack runs in the home."""

    def __init__(self, home: Path) -> None:
        super().__init__(f"no stack runs in {home}", "Start one with `acervo up`.")


def default_home(environ: Mapping[str, str]) -> Path:
    """`ACERVO_HOME`, else `/var/lib/acervo` for root and `acervo` in a user's own state directory."""
    if environ.get("ACERVO_HOME"):
        return Path(environ["ACERVO_HOME"])
    if os.geteuid() == 0:
        return Path("/var/lib/acervo")
    state = environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path("~/.local/state")) / "acervo"


def absolute(home: Path) -> Path:
    """A home as it was named, made absolute. Raises `LocalStackError` where there is no such user."""
    try:
        return home.expanduser().absolute()
    except RuntimeError:
        raise LocalStackError(
            f"{home} names the home directory of nobody", "Name an absolute path."
        ) from None


def holder(home: Path) -> int | None:
    """The pid of the stack that runs in `home`, 0 where it does not say, or None. Raises `LocalStackError`."""
    lock = home / "lock"
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LocalStackError(
            f"{home} cannot be read: {error.strerror}", "Name another with --home."
        ) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return pid_in(lock)
    finally:
        os.close(descriptor)
    return None


def pid_in(lock: Path) -> int:
    """The pid that a lock holds, or 0."""
    text = lock.read_text().strip()
    return int(text) if text.isdecimal() else 0


@dataclass(frozen=True, slots=True)
class Description:
    """A running stack, as `stack.json` of its home has it: its supervisor's pid, service -> host:port, the
    gateway's URL (empty without one). It holds no secret.
    """

    pid: int
    addresses: dict[str, str]
    gateway_url: str

    @classmethod
    def read(cls, home: Path) -> "Description":
        """Read that of the stack that runs in `home` now. Raises `LocalStackError`."""
        pid = holder(home)
        if pid is None:
            raise NotRunning(home)
        path = home / "stack.json"
        try:
            described = cls(**json.loads(path.read_text()))
        except FileNotFoundError:
            described = None
        except (OSError, ValueError, TypeError):
            raise LocalStackError(
                f"{path} is damaged", f"Stop the stack (pid {pid}) and start it again."
            ) from None
        if described is None or described.pid != pid:
            raise LocalStackError(
                f"the stack in {home} (pid {pid}) is still starting", "Try again in a moment."
            )
        return described


def load_key(keys: Path, issuer: str) -> Ed25519PrivateKey:
    """The signing key of an issuer, from the directory `keys`. Raises `OSError` or `ValueError`."""
    key = serialization.load_pem_private_key((keys / f"{issuer}.pem").read_bytes(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{issuer}.pem holds no Ed25519 key")  # noqa: TRY004 - of a file, not an argument
    return key


def sign(
    key: Ed25519PrivateKey,
    issuer: str,
    subject: str,
    audience: str,
    *,
    seconds: float,
    now: float | None = None,
    agent_id: str = "",
) -> str:
    """A token of `subject`, or of an agent that acts for it, for `audience`, good for so many seconds."""
    issued = int(time.time() if now is None else now)
    claims = {"iss": issuer, "sub": subject, "aud": audience, "iat": issued, "exp": issued + int(seconds)}
    if agent_id:
        claims[AGENT_CLAIM] = agent_id
    return jwt.encode(claims, key, algorithm="EdDSA", headers={"kid": issuer})


def person_token(
    home: Path, subject: str = ADMIN, *, seconds: float = PERSON_TOKEN_SECONDS, agent_id: str = ""
) -> str:
    """A new token of a local person, or of an agent that acts for one.

    Raises `LocalStackError` for whoever may not read the home's keys.
    """
    try:
        key = load_key(home / "keys", PEOPLE)
    except PermissionError:
        raise LocalStackError(
            f"the keys in {home} belong to somebody else", "Ask them for a token, and set ACERVO_TOKEN."
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise LocalStackError(
            f"there are no keys in {home}", "Start a stack with `acervo up`, or set ACERVO_TOKEN."
        ) from None
    except (OSError, ValueError):
        path = home / "keys" / f"{PEOPLE}.pem"
        raise LocalStackError(f"{path} holds no key", "Remove it and start the stack again.") from None
    return sign(key, PEOPLE, subject, AUDIENCE, seconds=seconds, agent_id=agent_id)


def local_access(home: Path | None, user: str) -> tuple[dict[str, str], Callable[[], str]]:
    """The addresses of the stack that runs in `home` (None: the default one), and what answers tokens of `user`.

    Raises `LocalStackError`.
    """
    root = absolute(home if home is not None else default_home(os.environ))
    addresses = Description.read(root).addresses
    person_token(root, user)  # to fail here, where the keys may not be read
    return addresses, lambda: person_token(root, user)
