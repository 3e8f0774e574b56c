"""Each means of isolation holds by itself, for not every machine has all of them."""

import os
import socket
import subprocess
import sys
import textwrap

import pytest

LOOK_AROUND = """
import os, socket, sys
from services.ingest.pool import isolation

def connected():
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5):
            return True
    except OSError:
        return False

def readable(path):
    try:
        with open(path):
            return True
    except OSError:
        return False
"""


def seen(code: str) -> str:
    """What `code` prints in a process of its own that knows how to look around."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", LOOK_AROUND + textwrap.dedent(code), str(server.getsockname()[1])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=60
        )
    return done.stdout.strip()


def test_without_isolation_a_process_has_the_network_and_files() -> None:
    assert seen("print(connected(), readable('/etc/passwd'))") == "True True"


def test_a_namespace_alone_takes_the_network() -> None:
    answer = seen("print(isolation._leave_network(), connected())")
    if answer.startswith("False"):
        pytest.skip("no network namespaces here")
    assert answer == "True False"


def test_seccomp_alone_takes_the_network() -> None:
    answer = seen("isolation._forbid_privileges()\nprint(isolation._forbid_sockets(), connected())")
    if answer.startswith("False"):
        pytest.skip("no seccomp here")
    assert answer == "True False"


def test_landlock_alone_takes_files_and_tcp_and_leaves_the_libraries() -> None:
    answer = seen(
        """
        import xml
        isolation._forbid_privileges()
        version = isolation._landlock_version()
        held = version > 0 and isolation._restrict_files(version)
        import xml.dom.minidom
        print(held, readable("/etc/passwd"), connected() and version >= 4)
        """
    )
    if answer.startswith("False"):
        pytest.skip("no Landlock here")
    assert answer == "True False False"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_somebody_without_privileges_is_isolated_alike() -> None:
    answer = seen("print(isolation.isolate())")
    code = "import sysconfig; sysconfig.get_paths(); os.setuid(65534); print(isolation.isolate())"
    assert seen(code) == answer


def test_memory_is_bounded_from_the_size_that_the_process_has() -> None:
    code = """
    isolation.limit(64 << 20, 1 << 20)
    bytearray(32 << 20)
    try:
        bytearray(128 << 20)
    except MemoryError:
        print("bounded")
    """
    assert seen(code) == "bounded"


def test_a_process_whose_parent_is_gone_ends() -> None:
    assert seen("isolation.die_with(os.getppid())\nprint('lives')") == "lives"
    with pytest.raises(subprocess.CalledProcessError):
        seen("isolation.die_with(1 if os.getppid() != 1 else 2)")
