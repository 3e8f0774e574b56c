"""What is declared in `bus` fits together."""

from itertools import combinations

import pytest

from services.shared import bus
from services.shared.bootstrap import SERVICES
from services.shared.bus import CONSUMERS, PUBLISHES, SUBJECTS, Lane, Stream

# Facts that are declared for services to come. The stream takes them and keeps none.
UNHEARD = {
    bus.ACCOUNT_DELETED,
    bus.ORGANIZATION_DELETED,
    bus.MEMBER_REMOVED,
    bus.SECRET_DELETED,
    bus.FILE_DELETED,
}


def matches(pattern: str, subject: str) -> bool:
    parts, tokens = pattern.split("."), subject.split(".")
    return len(parts) == len(tokens) and all(
        part in ("*", token) or token == "*" for part, token in zip(parts, tokens, strict=True)
    )


def declared_subjects() -> set[str]:
    names = {
        value
        for name, value in vars(bus).items()
        if name.isupper() and isinstance(value, str) and value.startswith("acervo.")
    }
    stages = {bus.PARSE, bus.EMBED, bus.SYNC}
    work = {bus.lane_subject(stage, lane) for stage in stages for lane in Lane}
    answers = {bus.handled_subject(announcer, hearer) for announcer in SERVICES for hearer in SERVICES}
    answers |= {bus.teardown_answered(service) for service in SERVICES}
    return work | answers | (names - stages - {bus.HANDLED, bus.TEARDOWN})


def test_each_declared_subject_belongs_to_one_stream() -> None:
    for subject in declared_subjects():
        streams = [s for s, patterns in SUBJECTS.items() if any(matches(p, subject) for p in patterns)]
        assert len(streams) == 1, subject


def test_no_two_patterns_of_the_streams_overlap() -> None:
    patterns = [pattern for subjects in SUBJECTS.values() for pattern in subjects]
    assert not [pair for pair in combinations(patterns, 2) if matches(*pair)]


def test_the_stream_of_a_subject_is_the_one_that_takes_it() -> None:
    assert bus.stream_of("acervo.parse.bulk") is Stream.WORK
    assert bus.stream_of(bus.BASE_DELETED) is Stream.FACTS
    for subject in ("acervo.parse", "acervo.parse.bulk.x", "other.parse.bulk", "", "."):
        with pytest.raises(ValueError, match="no stream takes"):
            bus.stream_of(subject)


def test_no_two_consumers_of_the_work_queue_overlap() -> None:
    subjects = [
        s for consumer in CONSUMERS.values() if consumer.stream is Stream.WORK for s in consumer.subjects
    ]
    assert not [pair for pair in combinations(subjects, 2) if matches(*pair)]


def test_each_consumer_filters_what_its_stream_takes() -> None:
    for consumer in CONSUMERS.values():
        for subject in consumer.subjects:
            assert any(matches(pattern, subject) for pattern in SUBJECTS[consumer.stream]), subject


def test_whatever_a_service_publishes_is_heard_or_said_not_to_be() -> None:
    heard = [subject for consumer in CONSUMERS.values() for subject in consumer.subjects]
    published = {subject for subjects in PUBLISHES.values() for subject in subjects}
    deaf = {subject for subject in published if not any(matches(subject, hearer) for hearer in heard)}
    assert deaf == UNHEARD
    assert not [subject for subject in UNHEARD if bus.listeners(subject)]


def test_whatever_is_heard_is_published_by_some_service() -> None:
    published = [subject for subjects in PUBLISHES.values() for subject in subjects]
    published += [bus.handled_subject("*", service) for service in SERVICES]
    for consumer in CONSUMERS.values():
        for subject in consumer.subjects:
            assert any(matches(pattern, subject) for pattern in published), subject


def test_a_service_may_publish_nothing_of_its_own_that_is_not_declared() -> None:
    for service in SERVICES:
        own = [s for s in bus.permissions(service).publish if not s.startswith("$")]
        assert set(own) == {*PUBLISHES[service], bus.handled_subject("*", service)}


def test_what_answers_for_a_service_only_that_service_may_publish() -> None:
    for service in SERVICES:
        others = [bus.permissions(other).publish for other in SERVICES if other != service]
        for subject in (bus.teardown_answered(service), bus.handled_subject("access", service)):
            assert not [pattern for patterns in others for pattern in patterns if matches(pattern, subject)]


def test_a_service_that_is_not_declared_may_do_nothing_but_declare_the_streams() -> None:
    for subject in bus.permissions("gateway").publish:
        assert subject.startswith(
            ("$JS.API.INFO", "$JS.API.STREAM.", "$JS.API.CONSUMER.DURABLE.CREATE.")
        ) or (subject == bus.handled_subject("*", "gateway"))
