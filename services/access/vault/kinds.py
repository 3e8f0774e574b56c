"""The kinds of secrets: which fields each has, what is right in them, and what may be told of them.

Pure: no clock, no ids, no I/O. The table has the fields of the contract's messages, by name.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from services.shared.errors import FieldViolation

Values = Mapping[str, str]
"""What a secret holds: its fields by name, without those that were left out."""


class SecretKind(StrEnum):
    """What a secret is."""

    API_KEY = "api_key"
    AWS_CREDENTIALS = "aws_credentials"
    GCP_SERVICE_ACCOUNT = "gcp_service_account"
    AZURE_CREDENTIALS = "azure_credentials"
    GIT_TOKEN = "git_token"  # noqa: S105 - the name of a kind
    ATLASSIAN_TOKEN = "atlassian_token"  # noqa: S105
    GRAPH_APP = "graph_app"
    NOTION_TOKEN = "notion_token"  # noqa: S105


_VISIBLE = "This must be {} to {} visible ASCII characters, without spaces."
_TEXT = "This must be {} to {} characters, without control characters and without spaces around it."


@dataclass(frozen=True, slots=True)
class Field:
    """What is right in a field. `pattern` is matched against all of it; `wrong` says what it must be."""

    name: str
    most: int
    least: int = 1
    required: bool = True
    pattern: str = r"[!-~]+"
    wrong: str = _VISIBLE

    def fault(self, value: str | None) -> str | None:
        """What is wrong with a value, in words that do not hold it; None: nothing."""
        if value is None:
            return "This is needed." if self.required else None
        if self.least <= len(value) <= self.most and re.fullmatch(self.pattern, value):
            return None
        return self.wrong.format(self.least, self.most)


@dataclass(frozen=True, slots=True)
class Kind:
    """What secrets of a kind hold."""

    fields: tuple[Field, ...]
    hint: Callable[[Values], str]
    """What may be told of it."""
    judge: Callable[[Values], Iterator[FieldViolation]] = lambda _: iter(())
    """What is wrong with fields that are right by themselves."""


def _name(name: str, most: int, *, required: bool = True) -> Field:
    """A field that stands in hosts and paths of addresses that are called."""
    return Field(name, most, 1, required, _LABELS, _NAME)


def _told(name: str) -> Callable[[Values], str]:
    return lambda values: values.get(name, "")


def _text(name: str, most: int, *, least: int = 1, required: bool = True) -> Field:
    return Field(name, most, least, required, r"(?!\s)[^\x00-\x1f\x7f-\x9f]+(?<!\s)", _TEXT)


def _service_account(values: Values) -> Mapping[str, Any]:
    try:
        account = json.loads(values["json"])
    except (ValueError, RecursionError):
        return {}
    return account if isinstance(account, dict) else {}


def _judge_service_account(values: Values) -> Iterator[FieldViolation]:
    account = _service_account(values)
    if account.get("type") != "service_account":
        yield FieldViolation(
            "json", "This must be the JSON of a service account (its type: service_account)."
        )
        return
    email, key = account.get("client_email"), account.get("private_key")
    if not _fits(_ACCOUNT_EMAIL, email) or not isinstance(key, str) or not key:
        yield FieldViolation("json", "This must have a client_email and a private_key.")
    for name, pattern in _GOOGLES.items():
        if name in account and not _fits(pattern, account[name]):
            yield FieldViolation("json", f"Its {name} must be one of Google's.")


def _fits(pattern: str, value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _judge_azure(values: Values) -> Iterator[FieldViolation]:
    application = [name in values for name in ("tenant_id", "client_id", "client_secret")]
    ways = ["account_key" in values, "sas_token" in values, any(application)]
    if sum(ways) != 1 or (any(application) and not all(application)):
        message = "Give this, sas_token, or all of tenant_id, client_id and client_secret: one of the three."
        yield FieldViolation("account_key", message)


_LABELS: Final = r"[A-Za-z0-9]+(?:[.-][A-Za-z0-9]+)*"
_NAME: Final = "This must be {} to {} letters, digits, and single dots and hyphens between them."
_ACCOUNT_EMAIL: Final = r"[A-Za-z0-9._-]{1,64}@[A-Za-z0-9.-]{1,255}"
# What clients of Google build addresses of: assertions go to `token_uri`, tokens to hosts of the universe, and whoever
# uses the account trusts what they answer.
_GOOGLES: Final = {
    "token_uri": rf"https://(?:accounts\.google\.com|{_LABELS}\.googleapis\.com)(?::443)?(?:/[A-Za-z0-9._-]+)*/?",
    "universe_domain": r"googleapis\.com",
    "project_id": rf"(?:{_LABELS}:)?{_LABELS}",
}
_REGION = Field(
    "region",
    64,
    required=False,
    pattern=r"[a-z0-9]+(?:-[a-z0-9]+)*",
    wrong="This must be {} to {} lower-case letters and digits, and single hyphens between them.",
)
_SAS = Field(
    "sas_token",
    4096,
    required=False,
    pattern=r"\??[A-Za-z]+=[A-Za-z0-9%+/=:,._~-]*(?:&[A-Za-z]+=[A-Za-z0-9%+/=:,._~-]*)*",
    wrong="This must be a query of {} to {} characters, such as sv=...&sig=...",
)
_PROVIDER = Field(
    "provider",
    64,
    pattern=r"[a-z0-9_-]+",
    wrong="This must be {} to {} lower-case letters, digits, hyphens and underscores.",
)
_ACCOUNT = Field(
    "account_name", 24, 3, pattern=r"[a-z0-9]+", wrong="This must be {} to {} lower-case letters and digits."
)
_EMAIL = Field(
    "email",
    320,
    3,
    pattern=r"[!-?A-~]+@[!-?A-~]+",
    wrong="This must be an email address of {} to {} characters.",
)
_JSON = Field("json", 16384, pattern=r"(?s).*", wrong="This must be {} to {} characters.")

KINDS: Mapping[SecretKind, Kind] = MappingProxyType(
    {
        SecretKind.API_KEY: Kind((_PROVIDER, Field("key", 4096)), _told("provider")),
        SecretKind.AWS_CREDENTIALS: Kind(
            (
                Field("access_key_id", 128),
                Field("secret_access_key", 256),
                Field("session_token", 8192, required=False),
                _REGION,
            ),
            _told("region"),
        ),
        SecretKind.GCP_SERVICE_ACCOUNT: Kind(
            (_JSON,), lambda values: str(_service_account(values)["client_email"]), _judge_service_account
        ),
        SecretKind.AZURE_CREDENTIALS: Kind(
            (
                _ACCOUNT,
                Field("account_key", 512, required=False),
                _SAS,
                _name("tenant_id", 128, required=False),
                _name("client_id", 128, required=False),
                Field("client_secret", 512, required=False),
            ),
            _told("account_name"),
            _judge_azure,
        ),
        SecretKind.GIT_TOKEN: Kind(
            (_text("username", 256, required=False), Field("token", 4096)), _told("username")
        ),
        SecretKind.ATLASSIAN_TOKEN: Kind((_EMAIL, Field("token", 4096)), _told("email")),
        SecretKind.GRAPH_APP: Kind(
            (_name("tenant_id", 128), _name("client_id", 128), Field("client_secret", 512)),
            _told("tenant_id"),
        ),
        SecretKind.NOTION_TOKEN: Kind((Field("token", 4096),), _told("")),
    }
)


def violations(kind: SecretKind, values: Values) -> list[FieldViolation]:
    """What is wrong with what a secret is to hold, by the names of its fields. No message holds any of it."""
    table = KINDS[kind]
    faults = [(field.name, field.fault(values.get(field.name))) for field in table.fields]
    found = [FieldViolation(name, fault) for name, fault in faults if fault is not None]
    return found or list(table.judge(values))


def hint(kind: SecretKind, values: Values) -> str:
    """What may be told of a secret that holds this, in which nothing is wrong."""
    return KINDS[kind].hint(values)


def encode(values: Values) -> bytes:
    """The bytes that are sealed."""
    return json.dumps(dict(values), sort_keys=True).encode()


def decode(data: bytes) -> Values:
    """What `encode` was given."""
    values: dict[str, str] = json.loads(data)
    return values
