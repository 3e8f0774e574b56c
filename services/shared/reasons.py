"""The table of reasons: what each `ErrorReason` means in gRPC, in HTTP and to the person who reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType
from typing import cast

from acervo.common.v1 import error_reason_pb2 as pb
from acervo.common.v1.error_reason_pb2 import ErrorReason

PREFIX = "ERROR_REASON_"
_NUMBERS = dict(ErrorReason.items())


class Code(IntEnum):
    """The canonical codes in use, numbered as in gRPC."""

    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a reason means at the edges: its canonical code, its HTTP status, and what a person is told."""

    code: Code
    http: int
    message: str
    advice: str


def reason_name(reason: int) -> str:
    """The name in `ErrorInfo.reason`. Example: `FILE_EMPTY`. A number not known reads INTERNAL."""
    if reason not in ErrorReason.values():
        return "INTERNAL"
    return ErrorReason.Name(reason).removeprefix(PREFIX)


def reason_of(name: str) -> ErrorReason:
    """The reason that `reason_name` wrote; INTERNAL for a name that this version does not know."""
    number = _NUMBERS.get(PREFIX + name, pb.ERROR_REASON_INTERNAL)
    return cast("ErrorReason", number)


def meaning(reason: int) -> Meaning:
    """The row of `REASONS`; that of INTERNAL for a reason that this version does not know."""
    return REASONS.get(reason, REASONS[pb.ERROR_REASON_INTERNAL])


_INTERNAL = Meaning(
    Code.INTERNAL,
    500,
    "Something went wrong on our side.",
    "Try again; if it goes on, tell the operator the request id.",
)

REASONS: Mapping[int, Meaning] = MappingProxyType(
    {
        pb.ERROR_REASON_UNSPECIFIED: _INTERNAL,
        pb.ERROR_REASON_TOKEN_INVALID: Meaning(
            Code.UNAUTHENTICATED,
            401,
            "The token is missing or not accepted.",
            "Sign in again and repeat the call.",
        ),
        pb.ERROR_REASON_SERVICES_ONLY: Meaning(
            Code.PERMISSION_DENIED,
            403,
            "This method is for Acervo's own services.",
            "Use the method that is offered to people instead.",
        ),
        pb.ERROR_REASON_FIELD_INVALID: Meaning(
            Code.INVALID_ARGUMENT,
            422,
            "A field is not valid.",
            "Correct the fields that are named and send it again.",
        ),
        pb.ERROR_REASON_NOT_FOUND: Meaning(
            Code.NOT_FOUND,
            404,
            "There is no such thing.",
            "Check the id or name, and whether your role allows this; its owner may grant it.",
        ),
        pb.ERROR_REASON_TRY_AGAIN: Meaning(
            Code.ABORTED, 409, "Another call is working on the same thing.", "Try again in a moment."
        ),
        pb.ERROR_REASON_INTERNAL: _INTERNAL,
        pb.ERROR_REASON_UNAVAILABLE: Meaning(
            Code.UNAVAILABLE, 503, "A part of the system does not answer.", "Try again in a few seconds."
        ),
        pb.ERROR_REASON_REQUEST_ID_REUSED: Meaning(
            Code.ALREADY_EXISTS,
            409,
            "The request id was used before for another request.",
            "Use a new request id for a new request.",
        ),
        pb.ERROR_REASON_DEADLINE_EXCEEDED: Meaning(
            Code.DEADLINE_EXCEEDED, 504, "The call took too long.", "Try again, or allow the call more time."
        ),
        pb.ERROR_REASON_OVERLOADED: Meaning(
            Code.RESOURCE_EXHAUSTED, 429, "There is no room for the call now.", "Try again in a few seconds."
        ),
        pb.ERROR_REASON_MESSAGE_TOO_LARGE: Meaning(
            Code.INVALID_ARGUMENT,
            413,
            "More was sent, or asked for, than one message may hold.",
            "Send less at once, or ask for smaller pages.",
        ),
        pb.ERROR_REASON_METHOD_NOT_ALLOWED: Meaning(
            Code.UNIMPLEMENTED,
            405,
            "This path does not take this method.",
            "Use one of the methods in the header Allow.",
        ),
        pb.ERROR_REASON_REQUEST_TOO_SLOW: Meaning(
            Code.DEADLINE_EXCEEDED,
            408,
            "The request did not come within its time.",
            "Send it again without pauses, or over a faster line.",
        ),
        pb.ERROR_REASON_REQUEST_MALFORMED: Meaning(
            Code.INVALID_ARGUMENT,
            400,
            "What was sent is not a valid request.",
            "Check what the client, or a proxy in between, sends.",
        ),
        pb.ERROR_REASON_NAME_INVALID: Meaning(
            Code.INVALID_ARGUMENT,
            422,
            "The collection name breaks a rule of names.",
            "Choose a name of lower-case letters, digits and underscores that starts with a letter.",
        ),
        pb.ERROR_REASON_NAME_TAKEN: Meaning(
            Code.ALREADY_EXISTS,
            409,
            "The collection name is taken.",
            "Choose another name: each is held once in the whole deployment.",
        ),
        pb.ERROR_REASON_COLLECTION_AMBIGUOUS: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "Several knowledge bases hold this collection name.",
            "Name the knowledge base by its id.",
        ),
        pb.ERROR_REASON_BASE_IN_USE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "Agents hold this knowledge base.",
            "Take the base from these agents first.",
        ),
        pb.ERROR_REASON_BASE_DELETED: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The knowledge base was deleted meanwhile.",
            "Choose another knowledge base, or create one.",
        ),
        pb.ERROR_REASON_EMBEDDING_SETTINGS_CONFLICT: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The embedding settings contradict those of the collection.",
            "Leave the settings out to adopt the collection's, or choose another name.",
        ),
        pb.ERROR_REASON_ROLE_NOT_EXCEEDED: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The role is not below your own.",
            "Ask a member with a higher role to make this change.",
        ),
        pb.ERROR_REASON_LAST_OWNER: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "An organization keeps at least one owner.",
            "Make another member an owner first.",
        ),
        pb.ERROR_REASON_VAULT_CLOSED: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The vault has no master key, so that no secret is kept or opened.",
            "Ask the operator to give access a file of master keys (ACERVO_VAULT_KEYS_FILE).",
        ),
        pb.ERROR_REASON_SECRET_GONE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "There is no key: the secret that was chosen has been deleted.",
            "Choose another secret.",
        ),
        pb.ERROR_REASON_SECRET_UNREADABLE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "There is no key: the secret that was chosen cannot be opened any more.",
            "Enter what the secret holds again, or choose another one.",
        ),
        pb.ERROR_REASON_BUDGET_EXHAUSTED: Meaning(
            Code.RESOURCE_EXHAUSTED,
            402,
            "The organization's monthly budget is exhausted.",
            "Ask an admin of the organization to raise the limit, or wait for the next month.",
        ),
        pb.ERROR_REASON_FILE_KIND_UNSUPPORTED: Meaning(
            Code.INVALID_ARGUMENT,
            415,
            "This kind of file is not taken here.",
            "Convert the file to a kind that is taken, such as PDF, DOCX, Markdown or text.",
        ),
        pb.ERROR_REASON_FILE_KIND_MISMATCH: Meaning(
            Code.INVALID_ARGUMENT,
            415,
            "The file's name, declared type and content do not agree.",
            "Give the file the extension of what it holds, or convert it to a kind that is taken, and send it again.",
        ),
        pb.ERROR_REASON_FILE_TOO_LARGE: Meaning(
            Code.INVALID_ARGUMENT, 413, "The file is too large.", "Split the file or make it smaller."
        ),
        pb.ERROR_REASON_FILE_EMPTY: Meaning(
            Code.INVALID_ARGUMENT,
            422,
            "The file holds no bytes.",
            "Check that the file was saved, and send it again.",
        ),
        pb.ERROR_REASON_CHECKSUM_MISMATCH: Meaning(
            Code.INVALID_ARGUMENT, 422, "The bytes do not have the declared sha256.", "Send the file again."
        ),
        pb.ERROR_REASON_SIZE_MISMATCH: Meaning(
            Code.INVALID_ARGUMENT, 422, "The number of bytes is not the declared one.", "Send the file again."
        ),
        pb.ERROR_REASON_UPLOAD_MALFORMED: Meaning(
            Code.INVALID_ARGUMENT,
            400,
            "The upload is not one header followed by bytes.",
            "Send the header first and once, then the bytes.",
        ),
        pb.ERROR_REASON_ORIGINAL_GONE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The original's bytes are not kept any more.",
            "Synchronise the source again, or upload the file again.",
        ),
        pb.ERROR_REASON_DOCUMENT_NOT_FAILED: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "Only a failed document can be retried.",
            "Wait until the document is done or has failed.",
        ),
        pb.ERROR_REASON_FILE_ENCRYPTED: Meaning(
            Code.INVALID_ARGUMENT,
            422,
            "The file is protected by a password.",
            "Remove the password and upload the file again.",
        ),
        pb.ERROR_REASON_FILE_CORRUPT: Meaning(
            Code.INVALID_ARGUMENT,
            422,
            "The file is damaged.",
            "Open the file in the program that made it, save it anew and upload it again.",
        ),
        pb.ERROR_REASON_NO_TEXT: Meaning(
            Code.INVALID_ARGUMENT,
            422,
            "The file holds no text that can be read.",
            "If it is a scan, run text recognition on it and upload the result.",
        ),
        pb.ERROR_REASON_PARSE_TIMEOUT: Meaning(
            Code.FAILED_PRECONDITION,
            422,
            "Reading the file took too long.",
            "Split the file and upload the parts.",
        ),
        pb.ERROR_REASON_PARSE_MEMORY: Meaning(
            Code.FAILED_PRECONDITION,
            422,
            "Reading the file needs too much memory.",
            "Split the file and upload the parts.",
        ),
        pb.ERROR_REASON_PARSER_CRASHED: Meaning(
            Code.FAILED_PRECONDITION,
            422,
            "The file makes its reader crash.",
            "Save the file anew in the program that made it, or convert it to another kind.",
        ),
        pb.ERROR_REASON_DECOMPRESSION_BOMB: Meaning(
            Code.INVALID_ARGUMENT,
            422,
            "The file unpacks to more than is allowed.",
            "Reduce what the file holds, such as embedded media, and upload it again.",
        ),
        pb.ERROR_REASON_READER_UNAVAILABLE: Meaning(
            Code.FAILED_PRECONDITION,
            415,
            "What reads this kind of file is not installed here.",
            "Convert the file to another kind, or ask the operator to install the reader.",
        ),
        pb.ERROR_REASON_CONTENT_TOO_LARGE: Meaning(
            Code.INVALID_ARGUMENT,
            413,
            "The file has more pages, rows or text than is allowed.",
            "Split the file and upload the parts.",
        ),
        pb.ERROR_REASON_EMBEDDING_FAILED: Meaning(
            Code.UNAVAILABLE, 503, "The embedding model does not answer.", "Retry the document later."
        ),
        pb.ERROR_REASON_EMBEDDING_WIDTH_MISMATCH: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The model's vectors are not as wide as the collection's.",
            "Ask the operator to check the collection's model.",
        ),
        pb.ERROR_REASON_EMBEDDING_MODEL_UNAVAILABLE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The collection's embedding model is not installed here.",
            "Choose an installed model, or ask the operator to install this one.",
        ),
        pb.ERROR_REASON_EMBEDDING_PROVIDER_UNAVAILABLE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The knowledge base's embedding provider cannot be called by this deployment.",
            "Have it served by `local` again (`acervo kb update BASE --provider local`), with an installed model.",
        ),
        pb.ERROR_REASON_STORING_FAILED: Meaning(
            Code.UNAVAILABLE, 503, "The document could not be stored.", "Retry the document later."
        ),
        pb.ERROR_REASON_CHUNKS_GONE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The document's chunks are not there any more.",
            "Retry the document.",
        ),
        pb.ERROR_REASON_JOB_ABANDONED: Meaning(
            Code.INTERNAL,
            500,
            "The processes that worked on this died, or hung, time and again.",
            "Ask an operator to look at the workers' logs, then retry it.",
        ),
        pb.ERROR_REASON_SOURCE_UNREADABLE: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The source's path is not there or cannot be read.",
            "Check the path and its permissions on the server.",
        ),
        pb.ERROR_REASON_SOURCE_FORBIDDEN: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The source's path lies outside the allowed roots.",
            "Choose a path inside an allowed root, or ask the operator to allow this one.",
        ),
        pb.ERROR_REASON_RUN_IN_PROGRESS: Meaning(
            Code.FAILED_PRECONDITION, 409, "A run of this source is under way.", "Wait until the run is over."
        ),
        pb.ERROR_REASON_OWNER_LOST_ACCESS: Meaning(
            Code.FAILED_PRECONDITION,
            409,
            "The source's owner may no longer write to the knowledge base.",
            "Have somebody who may write to it take over the source.",
        ),
    }
)
