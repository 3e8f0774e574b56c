"""The directory that holds everything a local stack keeps, and the lock that lets one stack use it.

As root, PostgreSQL runs as a user of its own, who must be able to enter the home: the home is then made
enterable (not listable) for all, and everything in it that is secret is not. Parents are never opened up.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from acervo_client import local
from acervoctl.stack.errors import HomeBusy, HomeUnusable

_ENTERABLE = 0o711
_PRIVATE = 0o700
_EVERYBODY_ENTERS = 0o001


def as_root() -> bool:
    """Whether this process runs as root."""
    return os.geteuid() == 0


@dataclass(frozen=True, slots=True)
class Home:
    """Where the parts of a stack keep their files. `root` is absolute."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> "Home":
        """The home of this name. Raises `LocalStackError` where it names none."""
        return cls(local.absolute(path))

    @property
    def description(self) -> Path:
        """What clients need to know of the running stack."""
        return self.root / "stack.json"

    @property
    def lock(self) -> Path:
        """Locked while a stack runs; holds the pid of its supervisor."""
        return self.root / "lock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def keys(self) -> Path:
        """Signing keys, passwords and issuers."""
        return self.root / "keys"

    @property
    def vault_keys(self) -> Path:
        """The master keys of the vault: what opens the secrets that the database holds."""
        return self.keys / "vault-keys"

    @property
    def tokens(self) -> Path:
        """Service tokens: `<service>/<audience>`."""
        return self.root / "tokens"

    @property
    def postgres(self) -> Path:
        return self.root / "postgres"

    @property
    def nats(self) -> Path:
        return self.root / "nats"

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    def log(self, name: str) -> Path:
        """The log of one process."""
        return self.logs / f"{name}.log"

    def create(self) -> None:
        """Make the directory and what stands in it. Raises `HomeUnusable`."""
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
            self._check_own()
            self.lock.touch(mode=0o600)
            self._admit_postgres()
            for path in (self.logs, self.keys, self.tokens, self.nats, self.blobs):
                path.mkdir(exist_ok=True, mode=_PRIVATE)
        except OSError as error:
            raise self._unusable(error.strerror) from error

    def _check_own(self) -> None:
        """Refuse a directory of other things. A home is known by its lock, which stays when a stack ends."""
        try:
            own = self.lock.exists() or not any(self.root.iterdir())
        except OSError as error:
            raise self._unusable(error.strerror) from None
        if not own:
            raise self._unusable("it holds other things")

    def _unusable(self, why: str | None) -> HomeUnusable:
        advice = "Name another with --home: a directory that is empty, absent or a home already."
        return HomeUnusable(f"{self.root} cannot be used: {why}", advice)

    def _admit_postgres(self) -> None:
        if not as_root():
            self.postgres.mkdir(exist_ok=True, mode=_PRIVATE)
            return
        closed = [parent for parent in self.root.parents if not parent.stat().st_mode & _EVERYBODY_ENTERS]
        if closed:
            raise HomeUnusable(
                f"{self.root} cannot be used: as root, PostgreSQL runs as another user, who may not enter "
                f"{closed[-1]}",
                "Choose a home elsewhere, such as /var/lib/acervo.",
            )
        self.root.chmod(_ENTERABLE)
        self.postgres.mkdir(exist_ok=True)
        self.postgres.chmod(_ENTERABLE)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the home for this process. Raises `HomeBusy` where another one does, or `HomeUnusable`."""
        try:
            descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error.strerror) from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HomeBusy(self.root, local.pid_in(self.lock)) from None
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
            yield
        finally:
            os.close(descriptor)

    def wipe(self) -> None:
        """Remove the home and all that it holds. Raises `HomeBusy` while a stack runs in it, or `HomeUnusable`."""
        if not self.root.exists():
            return
        self._check_own()
        with self.locked():
            shutil.rmtree(self.root)


@contextmanager
def temporary_home(prefix: str = "acervo-") -> Iterator[Path]:
    """A new directory that can be a home, root or not; removed at the end."""
    path = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def write_private(path: Path, data: str | bytes) -> None:
    """Write a file that its owner alone reads, so that a reader sees the old or the new one, never a part."""
    content = data.encode() if isinstance(data, str) else data
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)
