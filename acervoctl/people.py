"""Persons, organizations, agents and bases as a command line names them."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from acervo.access.v1.agents_pb2 import Agent
from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.access.v1.organizations_pb2 import Organization
from acervo.access.v1.teams_pb2 import Team
from acervo_client import AcervoClient, AcervoError
from acervo_client.local import PEOPLE
from acervoctl.bases import Place
from acervoctl.errors import CommandError
from services.shared.identity import user_id

T = TypeVar("T", Agent, Organization, Team)


def is_id(text: str) -> bool:
    """Whether a text is a UUID."""
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def person_id(text: str) -> str:
    """The id of a person who is named by it, as `issuer#subject`, or by a name of the local stack."""
    if is_id(text):
        return text
    issuer, marker, subject = text.partition("#")
    return str(user_id(issuer, subject) if marker else user_id(PEOPLE, text))


async def organization(client: AcervoClient, text: str) -> Organization:
    """An organization of the caller's, by its id or display name. Raises `CommandError` where several have the name,
    and `AcervoError`."""
    return _only(await client.organizations.list(), text, "organization")


async def base(client: AcervoClient, text: str) -> KnowledgeBase:
    """A base, by its id or by the name of its collection. Raises `CommandError` where several are in question, and
    `AcervoError`."""
    place = Place(knowledge_base_id=text) if is_id(text) else Place(collection_name=text)
    return await place.base(client)


async def agent(client: AcervoClient, text: str) -> Agent:
    """An agent of the caller's own or of an organization of theirs, by its id or display name. Raises `CommandError`
    where several have the name, and `AcervoError`."""
    owners = ["", *(one.id for one in await client.organizations.list())]
    known = [one for owner in owners for one in await client.agents.list(owner)]
    return _only(known, text, "agent")


async def team(client: AcervoClient, text: str) -> str:
    """The id of a team, by its id or display name in an organization of the caller's. Raises what `agent` raises."""
    if is_id(text):
        return text
    owners = await client.organizations.list()
    known = [one for owner in owners for one in await client.teams.list(owner.id)]
    return _only(known, text, "team").id


async def agent_for(client: AcervoClient, found: KnowledgeBase, text: str) -> str:
    """The id of an agent that can be granted a base, by its id or display name. Raises what `agent` raises."""
    if is_id(text):
        return text
    return _only(await client.agents.list(found.organization_id), text, "agent").id


def _only(known: Sequence[T], text: str, kind: str) -> T:
    found = [one for one in known if text in (one.id, one.display_name)]
    if not found:
        raise AcervoError("NOT_FOUND", f"There is no {kind} {text} of yours.")
    if len(found) > 1:
        ids = ", ".join(one.id for one in found)
        raise CommandError(f"{len(found)} {kind}s are called {text}: {ids}", advice="Name one by its id.")
    return found[0]
