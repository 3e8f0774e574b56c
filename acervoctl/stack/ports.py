"""Free TCP ports of the loopback interface."""

import random
import socket

LOOPBACK = "127.0.0.1"

_FIRST, _LAST = 20000, 32000
"""Below the range from which systems take the ports of outgoing connections: while a server restarts, none of
those can take its port."""


def free_port(taken: set[int]) -> int:
    """Choose a port that nobody listens on and that is not in `taken`, and add it there."""
    chooser = random.SystemRandom()
    while True:
        port = chooser.randrange(_FIRST, _LAST)
        if port not in taken and is_free(port):
            taken.add(port)
            return port


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
