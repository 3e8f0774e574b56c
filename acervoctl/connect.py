"""How a command reaches Acervo: addresses and a token from the environment, else the local stack of a home.

`ACERVO_ADDRESS_<SERVICE>` (host:port) and `ACERVO_TOKEN` name a deployment; what they leave out comes from
`stack.json` of the home and from its keys.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from acervo_client import AcervoClient
from acervo_client.connection import SERVICES
from acervoctl.errors import CommandError
from acervoctl.stack import Description, Home, default_home
from acervoctl.stack.issuer import ADMIN, person_token


@dataclass(frozen=True, slots=True)
class Target:
    """Which deployment, as whom. `home` and `user` are empty where the command line does not say."""

    home: Path | None = None
    user: str | None = None

    def resolve_home(self, environ: Mapping[str, str] = os.environ) -> Home:
        """The home that the command line, the environment or the default names."""
        return Home.at(self.home if self.home is not None else default_home(environ))

    def client(self, environ: Mapping[str, str] = os.environ) -> AcervoClient:
        """Raises `CommandError` or `StackError` where there is no deployment or no token to be had."""
        return AcervoClient(self._addresses(environ), self._token(environ))

    def token(self, *, seconds: float, environ: Mapping[str, str] = os.environ) -> str:
        """A new token of a local person."""
        home = self.resolve_home(environ)
        subject = self.user or environ.get("ACERVO_USER") or ADMIN
        try:
            return person_token(home, subject, seconds=seconds)
        except FileNotFoundError:
            raise CommandError(
                f"there are no keys in {home.root}",
                advice="Start a stack with `acervo up`, or set ACERVO_TOKEN.",
            ) from None
        except PermissionError:
            raise CommandError(
                f"the keys in {home.root} belong to somebody else",
                advice="Ask them for a token: ACERVO_TOKEN.",
            ) from None

    def _addresses(self, environ: Mapping[str, str]) -> dict[str, str]:
        given = {
            service: environ[f"ACERVO_ADDRESS_{service.upper()}"]
            for service in SERVICES
            if environ.get(f"ACERVO_ADDRESS_{service.upper()}")
        }
        if given and (self.home is None or len(given) == len(SERVICES)):
            return given
        return {**Description.read(self.resolve_home(environ)).addresses, **given}

    def _token(self, environ: Mapping[str, str]) -> str:
        if environ.get("ACERVO_TOKEN") and self.user is None:
            return environ["ACERVO_TOKEN"]
        return self.token(seconds=3600, environ=environ)
