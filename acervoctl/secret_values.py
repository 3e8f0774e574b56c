"""What a secret is to hold, put together from options, files and answers that nobody sees."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from google.protobuf.descriptor import FieldDescriptor

from acervo.access.v1.secrets_pb2 import SecretValue
from acervoctl.errors import CommandError
from acervoctl.ingesting import UNREADABLE

_INPUT = "-"
_FIELDS = "They are {}."


def read_value(kind: str, given: Sequence[str], files: Sequence[str], *, may_ask: bool) -> SecretValue:
    """A value of the kind. `given` are `FIELD=VALUE`, `files` are `FIELD=PATH`, `-` being standard input.

    What is secret stands in no `given`: other users of the machine read command lines. Where it is missing, it is
    asked for. Raises `CommandError`.
    """
    value = SecretValue()
    message = getattr(value, kind)
    message.SetInParent()
    fields = {field.name: field for field in message.DESCRIPTOR.fields}
    for name, text in _pairs(kind, given, fields):
        if _is_secret(fields[name]):
            raise CommandError(
                f"{name} is secret, and others can read command lines",
                advice=f"Say --from {name}=PATH, or --from {name}=- for standard input.",
            )
        setattr(message, name, text)
    for name, path in _pairs(kind, files, fields):
        setattr(message, name, _read(path))
    missing = [name for name in fields if _is_needed(fields[name]) and not getattr(message, name)]
    for name in missing if may_ask and sys.stdin.isatty() else ():
        setattr(message, name, typer.prompt(name, hide_input=True, err=True))
    return value


def _is_secret(field: FieldDescriptor) -> bool:
    return bool(field.GetOptions().debug_redact)


def _is_needed(field: FieldDescriptor) -> bool:
    return _is_secret(field) and not field.has_presence


def _pairs(
    kind: str, options: Sequence[str], fields: dict[str, FieldDescriptor]
) -> Iterator[tuple[str, str]]:
    for option in options:
        name, marker, text = option.partition("=")
        if not marker or name not in fields:
            raise CommandError(
                f"a field of {kind} is to stand before =", advice=_FIELDS.format(", ".join(fields))
            )
        yield name, text


def _read(path: str) -> str:
    try:
        data = sys.stdin.buffer.read() if path == _INPUT else Path(path).read_bytes()
        return data.decode().removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise CommandError(
            f"{path} cannot be read: {why}", advice="Name a file of text.", reason=UNREADABLE
        ) from None
