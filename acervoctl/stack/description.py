"""What a client needs to know of a running stack, in `stack.json` of its home. It holds no secret."""

import json
from dataclasses import asdict, dataclass

from acervoctl.stack.errors import NotRunning, StackError
from acervoctl.stack.home import Home, write_private


@dataclass(frozen=True, slots=True)
class Description:
    """A running stack: its supervisor's pid, service -> host:port, the gateway's URL (empty without one)."""

    pid: int
    addresses: dict[str, str]
    gateway_url: str

    def write(self, home: Home) -> None:
        """Publish it, whole or not at all."""
        write_private(home.description, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, home: Home) -> "Description":
        """Read that of the stack that runs in `home` now. Raises `NotRunning`."""
        pid = home.holder()
        if pid is None:
            raise NotRunning(home.root)
        try:
            described = cls(**json.loads(home.description.read_text()))
        except FileNotFoundError:
            described = None
        if described is None or described.pid != pid:
            raise StackError(f"the stack in {home.root} (pid {pid}) is still starting")
        return described
