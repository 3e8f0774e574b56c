"""Who sees a secret, and which service opens one for what."""

from itertools import product
from uuid import UUID

import pytest

from services.access.people.roles import Permission, Role
from services.access.reach import Caller, CallerKind, Visibility
from services.access.vault.kinds import SecretKind
from services.access.vault.lending import TERMS, Opening, Purpose, Use, judge
from services.access.vault.reach import Keeping, reaches

ANA, BEA, ACME, TEAM, KEY, OTHER = (UUID(int=number) for number in range(1, 7))
PERSON = Caller(CallerKind.PERSON, ANA)
OF_VISIBILITY = {
    "own": Keeping(ACME, ANA, Visibility.PRIVATE),
    "private": Keeping(ACME, BEA, Visibility.PRIVATE),
    "nobodys": Keeping(ACME, None, Visibility.PRIVATE),
    "team": Keeping(ACME, BEA, Visibility.TEAM, TEAM),
    "org": Keeping(ACME, BEA, Visibility.ORG),
}
SEES = {
    Role.OWNER: "own private nobodys team org",
    Role.ADMIN: "own private nobodys team org",
    Role.BUILDER: "own team org",
    Role.MEMBER: "own",
    Role.VIEWER: "",
    None: "",
}
CHANGES = {**SEES, Role.BUILDER: "own"}


@pytest.mark.parametrize("role", [*Role, None])
def test_a_role_and_a_visibility_say_who_sees_and_who_changes_a_secret(role: Role | None) -> None:
    for permission, table in ((Permission.SECRETS_VIEW, SEES), (Permission.SECRETS_EDIT, CHANGES)):
        reached = [
            name
            for name, secret in OF_VISIBILITY.items()
            if reaches(PERSON, role, secret, permission, in_team=True)
        ]
        assert reached == table[role].split()


def test_a_teams_secret_is_nothing_to_who_is_not_in_the_team() -> None:
    team = OF_VISIBILITY["team"]
    assert not reaches(PERSON, Role.BUILDER, team, Permission.SECRETS_VIEW, in_team=False)
    assert reaches(PERSON, Role.ADMIN, team, Permission.SECRETS_VIEW, in_team=False)


@pytest.mark.parametrize(
    "caller",
    [Caller(CallerKind.AGENT, ANA, agent_id=KEY), Caller(CallerKind.SERVICE, None, service="vectorstore")],
)
def test_agents_and_services_see_no_secret(caller: Caller) -> None:
    for secret, permission in product(OF_VISIBILITY.values(), Permission):
        assert not reaches(caller, Role.OWNER, secret, permission, in_team=True)


def service(name: str) -> Caller:
    return Caller(CallerKind.SERVICE, None, service=name)


def test_one_service_opens_a_secret_for_each_purpose_and_kinds_are_told_apart() -> None:
    services = ("access", "upload", "ingest", "vectorstore", "sync", "gateway")
    for purpose, name, kind in product(Purpose, services, SecretKind):
        opened = judge(service(name), purpose, KEY, bound=KEY, kind=kind) is Opening.OPENED
        assert opened == (name == TERMS[purpose].service and kind in TERMS[purpose].kinds)
    assert {purpose: terms.service for purpose, terms in TERMS.items()} == {
        Purpose.EMBEDDING: "vectorstore",
        Purpose.PARSING: "ingest",
        Purpose.IMAGE_DESCRIPTION: "ingest",
        Purpose.SOURCE: "sync",
    }


@pytest.mark.parametrize("caller", [PERSON, Caller(CallerKind.AGENT, ANA, agent_id=KEY)])
def test_people_and_agents_open_nothing(caller: Caller) -> None:
    for purpose, kind in product(Purpose, SecretKind):
        assert judge(caller, purpose, KEY, bound=KEY, kind=kind) is Opening.REFUSED


@pytest.mark.parametrize(
    ("bound", "kind", "expected"),
    [
        (KEY, SecretKind.API_KEY, Opening.OPENED),
        (KEY, None, Opening.GONE),
        (KEY, SecretKind.GIT_TOKEN, Opening.REFUSED),
        (OTHER, SecretKind.API_KEY, Opening.REFUSED),
        (OTHER, None, Opening.REFUSED),
        (None, SecretKind.API_KEY, Opening.REFUSED),
        (None, None, Opening.REFUSED),
    ],
)
def test_a_secret_opens_where_it_is_bound_and_only_there_is_one_known_to_be_gone(
    bound: UUID | None, kind: SecretKind | None, expected: Opening
) -> None:
    assert judge(service("vectorstore"), Purpose.EMBEDDING, KEY, bound=bound, kind=kind) is expected


@pytest.mark.parametrize(("purpose", "source"), [(Purpose.SOURCE, None), (Purpose.EMBEDDING, OTHER)])
def test_a_source_goes_with_its_purpose_alone(purpose: Purpose, source: UUID | None) -> None:
    with pytest.raises(ValueError, match="source"):
        Use(ACME, purpose, source)
