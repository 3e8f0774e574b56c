"""Whose turn it is before a model: the urgent first, each asker in turn, and nobody for ever."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vectorstore.embedding.line import PATIENCE, Line, Urgency

_PUT = st.tuples(st.sampled_from(Urgency), st.sampled_from("abc"))


@given(st.lists(st.one_of(_PUT, st.none()), max_size=200))
def test_everything_is_taken_once_and_an_askers_own_in_order(steps: list[tuple[Urgency, str] | None]) -> None:
    line: Line[tuple[Urgency, str, int]] = Line()
    put: list[tuple[Urgency, str, int]] = []
    taken: list[tuple[Urgency, str, int]] = []
    for number, step in enumerate(steps):
        if step is not None:
            put.append((*step, number))
            line.put(*step, put[-1])
        elif line:
            taken.append(line.take())
    while line:
        taken.append(line.take())
    assert Counter(taken) == Counter(put)
    for urgency, asker in {item[:2] for item in put}:
        numbers = [number for *who, number in taken if who == [urgency, asker]]
        assert numbers == sorted(numbers)


@given(st.lists(_PUT, min_size=1, max_size=60))
def test_no_urgency_waits_for_more_than_its_patience_and_the_others_turns(
    first: list[tuple[Urgency, str]],
) -> None:
    line: Line[Urgency] = Line()
    for urgency, asker in first:
        line.put(urgency, asker, urgency)
    waited: Counter[Urgency] = Counter()
    waiting = Counter(urgency for urgency, _ in first)
    while line:
        urgency = line.take()
        waiting[urgency] -= 1
        waited[urgency] = 0
        for other in Urgency:
            waited[other] += bool(waiting[other]) and other is not urgency
        assert max(waited.values()) <= PATIENCE + len(Urgency) - 2
        line.put(Urgency.QUESTION, "flood", Urgency.QUESTION)
        waiting[Urgency.QUESTION] += 1
        if not waiting[Urgency.INTERACTIVE] and not waiting[Urgency.BULK]:
            break


def test_the_urgent_go_first() -> None:
    line: Line[Urgency] = Line()
    for urgency in (Urgency.BULK, Urgency.INTERACTIVE, Urgency.QUESTION):
        line.put(urgency, "ann", urgency)
    assert [line.take() for _ in range(3)] == [Urgency.QUESTION, Urgency.INTERACTIVE, Urgency.BULK]


def test_each_asker_has_a_turn_however_many_another_waits_with() -> None:
    line: Line[str] = Line()
    for _ in range(5):
        line.put(Urgency.QUESTION, "mallory", "mallory")
    line.put(Urgency.QUESTION, "bob", "bob")
    line.take()
    line.put(Urgency.QUESTION, "carol", "carol")
    assert [line.take() for _ in range(4)] == ["bob", "mallory", "carol", "mallory"]


def test_nobody_is_taken_where_nobody_waits() -> None:
    with pytest.raises(LookupError):
        Line[str]().take()
