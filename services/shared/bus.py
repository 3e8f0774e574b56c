"""What travels on the bus: subjects, the two streams, their durable consumers, and who may publish what.

`WORK` is a work queue: one pull consumer per stage and lane, each message for one worker. `FACTS` keeps a message until
every consumer that is interested has acknowledged it. Messages carry ids; everything else comes from rows and blobs.
Both streams refuse what they cannot hold (`discard=new`), so nothing unacknowledged is ever dropped: the outbox waits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

PARSE = "acervo.parse"
EMBED = "acervo.embed"
SYNC = "acervo.sync"

DOCUMENT_INDEXED = "acervo.document.indexed"
DOCUMENT_FAILED = "acervo.document.failed"
DOCUMENT_FINISHED = "acervo.document.finished"
DOCUMENT_DELETED = "acervo.document.deleted"
BASE_DELETED = "acervo.base.deleted"
BASE_EMPTIED = "acervo.base.emptied"
SOURCE_CHANGED = "acervo.base.source_changed"
# Answers to deletions of bases, from who held something of one: `acervo.teardown.<who>`.
TEARDOWN = "acervo.teardown"
ORGANIZATION_DELETED = "acervo.organization.deleted"
MEMBER_REMOVED = "acervo.member.removed"
ACCOUNT_DELETED = "acervo.member.deleted"
SECRET_DELETED = "acervo.secret.deleted"  # noqa: S105 - a subject
FILE_DELETED = "acervo.file.deleted"
# Answers to announced facts, from who handled one to who announced it: `acervo.handled.<announcer>.<hearer>`.
HANDLED = "acervo.handled"

ACK_WAIT_SECONDS = 60
MAX_ACK_PENDING = 256
DUPLICATE_WINDOW_SECONDS = 120
MAX_MESSAGE_BYTES = 64 * 1024
# Repeats of announced facts must not fill the stream while a hearer is away for long; whatever is dropped comes again.
FACTS_SECONDS = 24 * 60 * 60


class Lane(StrEnum):
    """Work that a person waits for, and work that nobody waits for."""

    INTERACTIVE = "interactive"
    BULK = "bulk"


class Stream(StrEnum):
    """The two streams."""

    WORK = "WORK"
    FACTS = "FACTS"


@dataclass(frozen=True, slots=True)
class Consumer:
    """A durable pull consumer."""

    name: str
    service: str
    stream: Stream
    subjects: tuple[str, ...]


SUBJECTS: dict[Stream, tuple[str, ...]] = {
    Stream.WORK: (f"{PARSE}.*", f"{EMBED}.*", f"{SYNC}.*"),
    Stream.FACTS: (
        "acervo.document.*",
        "acervo.base.*",
        f"{TEARDOWN}.*",
        "acervo.organization.*",
        "acervo.member.*",
        "acervo.secret.*",
        "acervo.file.*",
        f"{HANDLED}.*.*",
    ),
}

MAX_BYTES: dict[Stream, int] = {Stream.WORK: 256 * 1024 * 1024, Stream.FACTS: 256 * 1024 * 1024}


def teardown_answered(service: str) -> str:
    """Return the subject on which `service` alone says that it has removed what it held of a base."""
    return f"{TEARDOWN}.{service}"


# What each service publishes beside its answers to announced facts.
PUBLISHES: dict[str, tuple[str, ...]] = {
    "access": (
        BASE_DELETED,
        BASE_EMPTIED,
        ORGANIZATION_DELETED,
        MEMBER_REMOVED,
        ACCOUNT_DELETED,
        SECRET_DELETED,
    ),
    "upload": (FILE_DELETED, teardown_answered("upload")),
    "ingest": (f"{PARSE}.*", f"{EMBED}.*", DOCUMENT_FINISHED, DOCUMENT_DELETED, teardown_answered("ingest")),
    "vectorstore": (f"{EMBED}.*", DOCUMENT_INDEXED, DOCUMENT_FAILED, teardown_answered("vectorstore")),
    "sync": (f"{SYNC}.*", SOURCE_CHANGED, teardown_answered("sync")),
}

# Which facts each service hears.
_HEARS: dict[str, tuple[str, ...]] = {
    "access": (SOURCE_CHANGED, *map(teardown_answered, ("upload", "ingest", "vectorstore", "sync"))),
    "upload": (DOCUMENT_FINISHED, DOCUMENT_DELETED, BASE_DELETED, BASE_EMPTIED),
    "ingest": (DOCUMENT_INDEXED, DOCUMENT_FAILED, BASE_DELETED, BASE_EMPTIED),
    "vectorstore": (DOCUMENT_DELETED, BASE_DELETED, BASE_EMPTIED),
    "sync": (DOCUMENT_FINISHED, DOCUMENT_DELETED, BASE_DELETED, BASE_EMPTIED),
}


def lane_subject(stage: str, lane: Lane) -> str:
    """Return the subject of a stage's work in a lane, e.g. `acervo.parse.bulk`."""
    return f"{stage}.{lane.value}"


def handled_subject(announcer: str, hearer: str = "*") -> str:
    """Return the subject on which `hearer` alone says that it has handled a fact of `announcer`; `*` is any."""
    return f"{HANDLED}.{announcer}.{hearer}"


def stream_of(subject: str) -> Stream:
    """Return the stream that a subject belongs to.

    Raises:
        ValueError: if it is not declared.
    """
    kind = f"{subject.rpartition('.')[0]}.*"
    for stream, subjects in SUBJECTS.items():
        if kind in subjects:
            return stream
    raise ValueError(f"no stream takes {subject}")


def listeners(subject: str) -> tuple[str, ...]:
    """Return the services that hear a fact."""
    return tuple(service for service, subjects in _HEARS.items() if subject in subjects)


def _consumers() -> Iterator[Consumer]:
    for stage, prefix, service in (
        ("parse", PARSE, "ingest"),
        ("embed", EMBED, "vectorstore"),
        ("sync", SYNC, "sync"),
    ):
        for lane in Lane:
            yield Consumer(f"{stage}-{lane.value}", service, Stream.WORK, (lane_subject(prefix, lane),))
    for service, subjects in _HEARS.items():
        yield Consumer(f"{service}-facts", service, Stream.FACTS, (*subjects, handled_subject(service)))


CONSUMERS: dict[str, Consumer] = {consumer.name: consumer for consumer in _consumers()}


@dataclass(frozen=True, slots=True)
class Permissions:
    """What a service's NATS user may publish and subscribe to, as the server's configuration wants it."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def permissions(service: str) -> Permissions:
    """Return the publish and subscribe lists of a service's NATS user.

    Each service may make the declared streams and consumers again (after the broker lost them), and may pull from its
    own consumers only.
    """
    own = [consumer for consumer in CONSUMERS.values() if consumer.service == service]
    publish = [*PUBLISHES.get(service, ()), handled_subject("*", service), "$JS.API.INFO"]
    for stream in Stream:
        publish += [f"$JS.API.STREAM.CREATE.{stream}", f"$JS.API.STREAM.INFO.{stream}"]
    for consumer in CONSUMERS.values():
        publish.append(f"$JS.API.CONSUMER.DURABLE.CREATE.{consumer.stream}.{consumer.name}")
    for consumer in own:
        publish += [
            f"$JS.API.CONSUMER.MSG.NEXT.{consumer.stream}.{consumer.name}",
            f"$JS.API.CONSUMER.INFO.{consumer.stream}.{consumer.name}",
            f"$JS.ACK.{consumer.stream}.{consumer.name}.>",
        ]
    return Permissions(tuple(publish), (f"{inbox_prefix(service)}.>",))


def inbox_prefix(service: str) -> str:
    """Return the prefix of a service's reply subjects; others may not listen there."""
    return f"_INBOX_{service}"
