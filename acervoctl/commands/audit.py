"""`acervo audit`: who changed what, and whether the record of it is whole."""

import asyncio
import re
import sys
import time
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from google.protobuf.timestamp_pb2 import Timestamp

from acervo.access.v1 import audit_pb2 as pb
from acervo_client import AcervoClient
from acervoctl import encode_access as encode
from acervoctl import people
from acervoctl.commands.acting import ask, tell, tell_rows
from acervoctl.connect import Target
from acervoctl.errors import CommandError, Exit
from acervoctl.options import Command, HomeOption, JsonOption, UserOption

app = typer.Typer(help="Who changed what, and whether the record of it is whole.", no_args_is_help=True)

_LATE_SECONDS = 60
_HEAD = re.compile(r"(\d{1,18}):([0-9a-f]{64})")
_MOMENTS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]

OrganizationOption = Annotated[
    str | None,
    typer.Option("--org", help="The log of this organization, by id or name.", show_default=False),
]
DeploymentOption = Annotated[bool, typer.Option("--deployment", help="The log of the whole deployment.")]
ActorOption = Annotated[
    str | None,
    typer.Option(help="Only what this person, named as in `member`, or agent did.", show_default=False),
]
ActionOption = Annotated[
    str, typer.Option(help="Only this action, or this kind: `grant.added`, `grant`.", show_default=False)
]
ObjectOption = Annotated[
    str, typer.Option("--object", help="Only what was done to the thing of this id.", show_default=False)
]
SinceOption = Annotated[
    datetime | None, typer.Option(help="Not earlier than this, UTC.", formats=_MOMENTS, show_default=False)
]
UntilOption = Annotated[
    datetime | None, typer.Option(help="Earlier than this, UTC.", formats=_MOMENTS, show_default=False)
]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the command line says of the events that are asked for."""

    organization: str | None
    deployment: bool
    actor: str | None
    action: str
    object_id: str
    since: datetime | None
    until: datetime | None

    async def filter(self, client: AcervoClient) -> pb.AuditFilter:
        return pb.AuditFilter(
            organization_id=await self._organization_id(client),
            deployment=self.deployment,
            actor_id="" if self.actor is None else people.person_id(self.actor),
            action=self.action,
            object_id=self.object_id,
            since=_stamp(self.since),
            until=_stamp(self.until),
        )

    async def _organization_id(self, client: AcervoClient) -> str:
        if self.organization is None or people.is_id(self.organization):
            return self.organization or ""
        return (await people.organization(client, self.organization)).id


@app.command("list", cls=Command)
def list_(
    org: OrganizationOption = None,
    deployment: DeploymentOption = False,
    actor: ActorOption = None,
    action: ActionOption = "",
    object_id: ObjectOption = "",
    since: SinceOption = None,
    until: UntilOption = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 100,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """List what was done, newest first: by you outside of organizations, or in a log that is yours to read."""
    wanted = _Wanted(org, deployment, actor, action, object_id, since, until)

    async def work(client: AcervoClient) -> list[pb.AuditEvent]:
        found: list[pb.AuditEvent] = []
        async with aclosing(client.audit.list(await wanted.filter(client))) as events:
            async for event in events:
                found.append(event)
                if len(found) == limit:
                    break
        return found

    rows = [encode.audit_event(event) for event in ask(Target(home, user), work)]
    tell_rows("events", rows if as_json else [_shown(row) for row in rows], as_json=as_json)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    before, after = row["before"], row["after"]
    changes = {key: (before.get(key), after.get(key)) for key in sorted({*before, *after})}
    return {
        "time": row["create_time"][:19],
        "actor": row["actor_service"] or row["actor_agent_id"] or row["actor_user_id"],
        "action": row["action"],
        "object": row["object_id"],
        "what": ", ".join(f"{key} {_change(*values)}" for key, values in changes.items()),
    }


def _change(before: str | None, after: str | None) -> str:
    if before == after or before is None:
        return str(after)
    return f"was {before}" if after is None else f"{before} -> {after}"


@app.command(cls=Command)
def export(
    org: OrganizationOption = None,
    deployment: DeploymentOption = False,
    actor: ActorOption = None,
    action: ActionOption = "",
    object_id: ObjectOption = "",
    since: SinceOption = None,
    until: UntilOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Write a log to standard output, oldest first: a line of JSON for each event, with its seal."""
    asyncio.run(_export(Target(home, user), _Wanted(org, deployment, actor, action, object_id, since, until)))


async def _export(target: Target, wanted: _Wanted) -> None:
    async with target.client() as client:
        async for line in client.audit.export(await wanted.filter(client)):
            sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


@app.command(cls=Command)
def verify(
    head: Annotated[
        str,
        typer.Option(
            help="What an earlier run wrote as head, kept elsewhere: SEQUENCE:HASH.", show_default=False
        ),
    ] = "",
    as_json: JsonOption = False,
    home: HomeOption = None,
    user: UserOption = None,
) -> None:
    """Walk the chain of the whole deployment and tell its head, or the first place where it is not whole (status 1).

    So it ends, too, where events have waited for their seals for more than a minute.

    Only a head that was kept elsewhere shows that the end was cut off or forged anew.
    """
    kept = _kept(head)
    answer = ask(Target(home, user), lambda client: client.audit.verify(kept))
    found = encode.verification(answer)
    broken = found["broken"]
    late = bool(answer.waiting_count) and time.time() - answer.oldest_waiting_time.seconds > _LATE_SECONDS
    if broken is None:
        said = f"whole: {found['sealed']} sealed, {found['waiting']} waiting\nhead {found['head']}"
        if late:
            said += f"\nnothing is sealed since {found['waiting_since']}: the log of access says why"
    else:
        where = f"seal {broken['sequence']}" if broken["sequence"] else "no seal"
        said = f"not whole: {broken['fault']} at {where}, event {broken['event_id'] or 'unknown'}"
    tell("verification", found, said, as_json=as_json)
    if broken is not None or late:
        raise typer.Exit(Exit.FAILED)


def _kept(text: str) -> pb.AuditHead | None:
    if not text:
        return None
    found = _HEAD.fullmatch(text)
    if found is None:
        raise CommandError(f"{text} is no head", advice="Give it as `acervo audit verify` wrote it.")
    return pb.AuditHead(sequence=int(found[1]), hash=bytes.fromhex(found[2]))


def _stamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    message = Timestamp()
    message.FromDatetime(moment.replace(tzinfo=UTC))
    return message
