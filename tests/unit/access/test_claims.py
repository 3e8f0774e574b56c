"""Who may make a base on which name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.bases.claims import Claimant, Embedding, Holder, Name, Verdict, judge

SPACE, OTHER = Embedding("use-multilingual-v3", 512), Embedding("hashing-256", 256)
MINE, THEIRS = Holder(editable=True, hidden=False), Holder(editable=False, hidden=False)
UNOWNED = Holder(editable=False, hidden=True)
PERSON = Claimant(deployment_admin=False, outside_organizations=False)
ADMIN = Claimant(deployment_admin=True, outside_organizations=False)
ADMIN_OUTSIDE = Claimant(deployment_admin=True, outside_organizations=True)

holders = st.lists(st.sampled_from([MINE, THEIRS, UNOWNED]), max_size=4)
claimants = st.sampled_from([PERSON, ADMIN, ADMIN_OUTSIDE])
wishes = st.sampled_from([None, SPACE, OTHER])


@pytest.mark.parametrize(
    ("held_by", "teardowns", "claimant", "wanted", "verdict"),
    [
        ([], 0, PERSON, None, Verdict.GRANTED),
        ([], 0, PERSON, SPACE, Verdict.GRANTED),
        ([], 1, PERSON, None, Verdict.TAKEN),
        ([], 1, ADMIN, None, Verdict.TAKEN),
        ([MINE], 0, PERSON, None, Verdict.GRANTED),
        ([MINE], 1, PERSON, None, Verdict.GRANTED),
        ([MINE], 0, PERSON, SPACE, Verdict.GRANTED),
        ([MINE], 0, PERSON, OTHER, Verdict.EMBEDDING_CONFLICT),
        ([THEIRS], 0, PERSON, None, Verdict.TAKEN),
        ([THEIRS], 0, ADMIN, None, Verdict.TAKEN),
        ([THEIRS], 0, PERSON, OTHER, Verdict.TAKEN),
        ([MINE, THEIRS], 0, PERSON, None, Verdict.TAKEN),
        ([UNOWNED], 0, PERSON, None, Verdict.TAKEN),
        ([UNOWNED], 0, ADMIN, None, Verdict.GRANTED),
        ([UNOWNED], 0, ADMIN_OUTSIDE, None, Verdict.TAKEN),
        ([UNOWNED], 0, ADMIN, OTHER, Verdict.EMBEDDING_CONFLICT),
        ([UNOWNED, MINE], 0, PERSON, None, Verdict.TAKEN),
    ],
)
def test_claims(
    held_by: list[Holder], teardowns: int, claimant: Claimant, wanted: Embedding | None, verdict: Verdict
) -> None:
    assert judge(Name(SPACE, held_by, teardowns), claimant, wanted) is verdict


@given(holders, st.integers(0, 2), claimants, wishes)
def test_a_name_is_granted_only_where_every_holder_yields(
    held_by: list[Holder], teardowns: int, claimant: Claimant, wanted: Embedding | None
) -> None:
    if judge(Name(SPACE, held_by, teardowns), claimant, wanted) is Verdict.GRANTED:
        assert THEIRS not in held_by
        assert held_by or not teardowns
        assert wanted in (None, SPACE)


@given(holders, st.integers(0, 2), claimants, wishes)
def test_what_is_out_of_reach_is_refused_alike_whatever_was_wished_for(
    held_by: list[Holder], teardowns: int, claimant: Claimant, wanted: Embedding | None
) -> None:
    name = Name(SPACE, [*held_by, THEIRS], teardowns)
    assert judge(name, claimant, wanted) is Verdict.TAKEN
