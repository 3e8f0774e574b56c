"""The chain of seals: what follows what, and what is wrong where something does not."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.audit.events import Entry
from services.access.audit.seals import START, Break, Fault, Head, Seal, chain, digest, judge, line

ENTRY = Entry(
    id=UUID(int=1),
    create_time=datetime(2026, 5, 4, 3, 2, 1, 7, tzinfo=UTC),
    organization_id=UUID(int=2),
    deployment=False,
    actor_kind="person",
    actor_user_id=UUID(int=3),
    actor_agent_id=None,
    actor_service=None,
    action="team.renamed",
    object_kind="team",
    object_id=UUID(int=4),
    before={"display_name": "Año"},
    after={"display_name": "Jahr"},
)
ENTRIES = [replace(ENTRY, id=UUID(int=number)) for number in range(1, 6)]
SEALS = list(chain(START, ENTRIES))
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_seals_follow_each_other_without_gaps() -> None:
    assert [seal.sequence for seal in SEALS] == [1, 2, 3, 4, 5]
    assert [seal.previous_hash for seal in SEALS] == [START.hash, *(seal.hash for seal in SEALS[:-1])]
    head = START
    for seal, entry in zip(SEALS, ENTRIES, strict=True):
        assert judge(head, seal, entry) is None
        head = seal.head


def test_a_chain_goes_on_where_another_ended() -> None:
    assert [*chain(START, ENTRIES[:2]), *chain(SEALS[1].head, ENTRIES[2:])] == SEALS


@pytest.mark.parametrize(
    ("head", "seal", "entry", "fault", "sequence"),
    [
        (SEALS[0].head, SEALS[2], ENTRIES[2], Fault.MISSING_SEAL, 2),
        (START, SEALS[1], ENTRIES[1], Fault.MISSING_SEAL, 1),
        (SEALS[0].head, replace(SEALS[2], sequence=2), ENTRIES[2], Fault.OUT_OF_ORDER, 2),
        (START, replace(SEALS[1], sequence=1), ENTRIES[1], Fault.OUT_OF_ORDER, 1),
        (START, SEALS[0], None, Fault.MISSING_EVENT, 1),
        (START, SEALS[0], ENTRIES[1], Fault.ALTERED, 1),
        (START, replace(SEALS[0], hash=bytes(32)), ENTRIES[0], Fault.ALTERED, 1),
    ],
)
def test_what_does_not_follow_is_named(
    head: Head, seal: Seal, entry: Entry | None, fault: Fault, sequence: int
) -> None:
    broken = judge(head, seal, entry)
    assert isinstance(broken, Break)
    assert (broken.fault, broken.sequence) == (fault, sequence)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("create_time", ENTRY.create_time + timedelta(microseconds=1)),
        ("organization_id", None),
        ("deployment", True),
        ("actor_kind", "agent"),
        ("actor_user_id", UUID(int=9)),
        ("actor_agent_id", UUID(int=9)),
        ("actor_service", "sync"),
        ("action", "team.deleted"),
        ("object_kind", "grant"),
        ("object_id", UUID(int=9)),
        ("before", {}),
        ("after", {"display_name": "Jahr", "role": "owner"}),
    ],
)
def test_whatever_is_changed_of_an_event_changes_its_hash(field: str, value: Any) -> None:
    assert digest(START.hash, replace(ENTRY, **{field: value})) != digest(START.hash, ENTRY)


def test_a_moment_has_one_hash_in_all_time_zones() -> None:
    elsewhere = ENTRY.create_time.astimezone(timezone(timedelta(hours=5)))
    assert digest(START.hash, replace(ENTRY, create_time=elsewhere)) == digest(START.hash, ENTRY)


@given(st.dictionaries(TEXT, TEXT, max_size=3))
def test_a_line_of_an_export_is_enough_to_verify_its_hash(details: dict[str, str]) -> None:
    entry = replace(ENTRY, after=details)
    (seal,) = chain(SEALS[0].head, [entry])
    read = json.loads(line(entry, seal))
    told = read.pop("seal")
    written = json.dumps(read, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    hashed = hashlib.sha256(bytes.fromhex(told["previous_hash"]) + written.encode("utf-8"))
    assert hashed.hexdigest() == told["hash"]
