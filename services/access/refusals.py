"""The refusals that only access makes; those of every service are in `services.shared.errors`."""

from acervo.common.v1.error_reason_pb2 import ErrorReason
from services.shared.errors import AcervoError, NotFound


class RoleNotExceeded(AcervoError):
    """The role that is given or taken is not exceeded by the giver's own."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_ROLE_NOT_EXCEEDED)


class LastOwner(AcervoError):
    """The change would leave an organization without an owner."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_LAST_OWNER)


class EmbeddingConflict(AcervoError):
    """The chosen embedding settings are not those of the collection."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT)


class CollectionAmbiguous(AcervoError):
    """A write named a collection that several of the caller's bases hold."""

    def __init__(self) -> None:
        super().__init__(ErrorReason.ERROR_REASON_COLLECTION_AMBIGUOUS)


class OrganizationNotFound(NotFound):
    """There is no such organization, or the caller may not do this in it."""

    def __init__(self) -> None:
        super().__init__("organization")


class MemberNotFound(NotFound):
    """The person is no member."""

    def __init__(self) -> None:
        super().__init__("member")


class BaseNotFound(NotFound):
    """There is no such base, or the caller does not reach it."""

    def __init__(self) -> None:
        super().__init__("knowledge base")
