"""How a command reaches Acervo: addresses and a token from the environment, else the local stack of a home.

`ACERVO_ADDRESS_<SERVICE>` (host:port) and `ACERVO_TOKEN` name a deployment; what they leave out comes from
`stack.json` of the home and from its keys.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from acervo_client import AcervoClient, local
from acervo_client.connection import SERVICES
from acervoctl.errors import CommandError
from acervoctl.stack.home import Home

_ADDRESS = re.compile(r"\S+:\d{1,5}")


@dataclass(frozen=True, slots=True)
class Target:
    """Which deployment, as whom. `home` and `user` are empty where the command line does not say.

    Every method raises `LocalStackError` where there is no deployment or no token to be had, and `CommandError`
    for an address that can be none.
    """

    home: Path | None = None
    user: str | None = None

    def resolve_home(self, environ: Mapping[str, str] = os.environ) -> Home:
        """The home that the command line, the environment or the default names."""
        return Home.at(self.home if self.home is not None else local.default_home(environ))

    def resolve_user(self, environ: Mapping[str, str] = os.environ) -> str:
        """The local person that the command line, the environment or the default names."""
        return self.user or _given(environ, "ACERVO_USER") or local.ADMIN

    def client(self, environ: Mapping[str, str] = os.environ) -> AcervoClient:
        """A client of the deployment."""
        return AcervoClient(self._addresses(environ), self._token(environ))

    def token(self, *, seconds: float, agent_id: str = "", environ: Mapping[str, str] = os.environ) -> str:
        """A new token of a local person, or of an agent that acts for one."""
        return local.person_token(
            self.resolve_home(environ).root, self.resolve_user(environ), seconds=seconds, agent_id=agent_id
        )

    def _addresses(self, environ: Mapping[str, str]) -> dict[str, str]:
        variables = {service: f"ACERVO_ADDRESS_{service.upper()}" for service in SERVICES}
        given = {
            service: environ[variable] for service, variable in variables.items() if _given(environ, variable)
        }
        for service, address in given.items():
            if not _ADDRESS.fullmatch(address):
                message = f"{variables[service]} is {address}, which is no host:port"
                raise CommandError(message, advice="Set it as in access.example.org:7001, or unset it.")
        if given and (self.home is None or len(given) == len(SERVICES)):
            return given
        return {**local.Description.read(self.resolve_home(environ).root).addresses, **given}

    def _token(self, environ: Mapping[str, str]) -> str:
        if self.user is None and (given := _given(environ, "ACERVO_TOKEN")):
            return given
        return self.token(seconds=3600, environ=environ)


def _given(environ: Mapping[str, str], name: str) -> str:
    """What a variable says; empty where it is not set. One that is set to nothing is a command that failed before."""
    text = environ.get(name)
    if text is not None and not text.strip():
        raise CommandError(f"{name} is empty", advice="Set it, or unset it.")
    return text or ""
