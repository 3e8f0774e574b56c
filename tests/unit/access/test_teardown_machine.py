"""Claims, writes, deletions and answers in any interleaving, over the rules alone.

What stands around the rules is modelled in few words: access has holders, names and teardowns under a name's lock;
an owner keeps a table for each name and refuses writes into bases that it has buried.
"""

from dataclasses import dataclass, field
from itertools import count
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from services.access.bases.claims import Claimant, Embedding, Holder, Name, Verdict, judge
from services.access.bases.provenance import takes_over
from services.access.bases.teardown import OWNERS, Teardown, TeardownKind, begin
from services.access.reach import BaseKind, BaseScope

SPACES = (Embedding("hashing-256", 256), Embedding("use-multilingual-v3", 512))
NAMES = ("handbook", "notes")
ADMIN = "root"
PEOPLE = ("ana", "bea", ADMIN)
owners = st.sampled_from(sorted(OWNERS))


@dataclass(frozen=True)
class Base:
    id: UUID
    name: str
    owner: str
    """Empty for hidden bases."""
    kept: bool
    """Whether it is an organization's default."""


@dataclass
class Owner:
    """A service that keeps something of bases: for each collection, in which base an item stands."""

    tables: dict[str, dict[UUID, UUID]] = field(default_factory=dict)
    buried: set[UUID] = field(default_factory=set)
    emptied: dict[UUID, UUID] = field(default_factory=dict)

    def write(self, base: Base, item: UUID) -> bool:
        if base.id in self.buried or item < self.emptied.get(base.id, UUID(int=0)):
            return False
        self.tables.setdefault(base.name, {})[item] = base.id
        return True

    def remove(self, teardown: Teardown) -> None:
        """What a service does with a teardown, as often as it hears of it."""
        base_id, before = teardown.knowledge_base_id, teardown.emptied_before
        table = self.tables.get(teardown.collection_name, {})
        if teardown.kind is TeardownKind.DELETED:
            self.buried.add(base_id)
        elif before is not None:
            self.emptied[base_id] = max(before, self.emptied.get(base_id, before))
        if teardown.last_holder and set(table.values()) <= self.buried:
            self.tables.pop(teardown.collection_name, None)
        for item in [item for item, where in table.items() if where == base_id]:
            if before is None or item < before:
                table.pop(item)


class Collections(RuleBasedStateMachine):
    """A deployment with few names and few people."""

    made = Bundle("made")
    sent = Bundle("sent")

    def __init__(self) -> None:
        super().__init__()
        self.clock = count(1)
        self.bases: dict[UUID, Base] = {}
        self.names: dict[str, Embedding] = {}
        self.teardowns: dict[UUID, Teardown] = {}
        self.services = {service: Owner() for service in OWNERS}

    def now(self) -> UUID:
        return UUID(int=next(self.clock))

    def holders(self, name: str) -> list[Base]:
        return [base for base in self.bases.values() if base.name == name]

    def under_way(self, name: str) -> list[Teardown]:
        return [teardown for teardown in self.teardowns.values() if teardown.collection_name == name]

    @rule(
        target=made,
        name=st.sampled_from(NAMES),
        person=st.sampled_from(PEOPLE),
        wanted=st.sampled_from([None, *SPACES]),
        kept=st.booleans(),
    )
    def claim(self, name: str, person: str, wanted: Embedding | None, kept: bool) -> object:
        before = self.names.get(name)
        known = Name(
            before or wanted or SPACES[0],
            [Holder(editable=base.owner == person, hidden=not base.owner) for base in self.holders(name)],
            len(self.under_way(name)),
        )
        claimant = Claimant(deployment_admin=person == ADMIN, outside_organizations=False)
        if judge(known, claimant, wanted) is not Verdict.GRANTED:
            return multiple()
        assert self.holders(name) or not self.under_way(name), "a reserved name was claimed"
        assert {base.owner for base in self.holders(name)} <= {person, *([""] if person == ADMIN else [])}
        if not self.holders(name):
            for service in self.services.values():
                assert not service.tables.get(name), "something is there of those who held the name before"
        self.names[name] = known.embedding
        base = Base(self.now(), name, person, kept)
        self.bases[base.id] = base
        return base

    @rule(target=made, name=st.sampled_from(NAMES))
    def put_beside(self, name: str) -> object:
        """An operator ingests without a base; as an admin's claim does, but whoever holds the name keeps it."""
        if not self.holders(name) and self.under_way(name):
            return multiple()
        self.names.setdefault(name, SPACES[0])
        base = Base(self.now(), name, "", kept=False)
        self.bases[base.id] = base
        return base

    @rule(target=made, base=made)
    def take_over(self, base: Base) -> object:
        if (
            base.id not in self.bases
            or self.bases[base.id].owner
            or not takes_over(BaseScope.APP, BaseKind.OPERATOR)
        ):
            return multiple()
        self.bases[base.id] = Base(base.id, base.name, ADMIN, kept=False)
        return self.bases[base.id]

    @rule(base=made, service=owners)
    def write(self, base: Base, service: str) -> None:
        """Into any base that there ever was: a writer may have asked access long before it writes."""
        written = self.services[service].write(base, self.now())
        assert written or base.id not in self.bases or self.bases[base.id].kept

    @rule(target=sent, base=made)
    def delete(self, base: Base) -> object:
        if base.id not in self.bases:
            return multiple()
        others = len(self.holders(base.name)) - 1
        teardown = begin(
            self.now(),
            base_id=base.id,
            collection_name=base.name,
            keep_base=base.kept,
            other_holders=others,
            watermark=self.now(),
        )
        assert teardown.last_holder == (others == 0 and not base.kept)
        if not base.kept:
            self.bases.pop(base.id)
        self.teardowns[teardown.id] = teardown
        return teardown

    @rule(teardown=sent, service=owners)
    def hear_and_answer(self, teardown: Teardown, service: str) -> None:
        """At any time after the deletion, and again: the broker and the sweep may bring it twice."""
        self.services[service].remove(teardown)
        self.answer(teardown, service)

    @rule(teardown=sent, service=owners)
    def hear_and_die_before_answering(self, teardown: Teardown, service: str) -> None:
        self.services[service].remove(teardown)

    @rule(teardown=sent)
    def sweep(self, teardown: Teardown) -> None:
        """What hangs is announced once more to all."""
        if teardown.id in self.teardowns:
            for service in sorted(OWNERS):
                self.hear_and_answer(teardown, service)

    @rule(teardown=consumes(sent), repeats=st.lists(owners))
    def answer_what_is_over_again(self, teardown: Teardown, repeats: list[str]) -> None:
        for service in sorted(OWNERS):
            self.hear_and_answer(teardown, service)
        before = self.seen()
        for service in repeats:
            self.answer(teardown, service)
        assert self.seen() == before

    def seen(self) -> tuple[object, ...]:
        return dict(self.bases), dict(self.names), dict(self.teardowns)

    def answer(self, teardown: Teardown, service: str) -> None:
        known = self.teardowns.get(teardown.id)
        if known is None:
            return
        known = known.answered_by(service)
        self.teardowns[known.id] = known
        if known.over:
            self.teardowns.pop(known.id)
            if not self.holders(known.collection_name) and not self.under_way(known.collection_name):
                self.names.pop(known.collection_name)

    @invariant()
    def a_name_is_free_only_where_nobody_holds_it_and_all_four_have_answered(self) -> None:
        for name in NAMES:
            assert (name in self.names) == bool(self.holders(name) or self.under_way(name))

    @invariant()
    def what_a_service_keeps_belongs_to_a_base_or_is_still_awaited(self) -> None:
        for service, owner in self.services.items():
            awaited = {one.knowledge_base_id for one in self.teardowns.values() if service in one.awaited}
            kept = {base_id for table in owner.tables.values() for base_id in table.values()}
            assert kept <= {*self.bases, *awaited}

    @invariant()
    def no_table_goes_under_a_base_that_lives(self) -> None:
        for teardown in self.teardowns.values():
            living = {base.id for base in self.holders(teardown.collection_name)}
            assert not (teardown.last_holder and living)


TestCollections = Collections.TestCase
TestCollections.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
