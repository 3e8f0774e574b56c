"""Plain text: decoded, and nothing else."""

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers.encodings import decode
from services.shared.readers.result import Limits, Page, Parsed, ReadError, ReadWarning
from services.shared.sniffing import is_text

_REPLACEMENT = "\ufffd"


def read(data: bytes, _limits: Limits) -> Parsed:
    """Decode `data`.

    Raises:
        ReadError: FILE_CORRUPT if it is no text, or text in no known encoding.
    """
    if not is_text(data):
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT, "The file is not text.")
    text, encoding = decode(data)
    replaced = text.count(_REPLACEMENT)
    if replaced * 10 > len(text):
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT, "The file is text in no known encoding.")
    if replaced and not encoding:
        warning = ReadWarning(
            "encoding_unknown", f"{replaced} bytes fit no known encoding and were replaced."
        )
    elif replaced:
        warning = ReadWarning("bytes_replaced", f"{replaced} places are not valid in the file's encoding.")
    else:
        return Parsed((Page(0, text),))
    return Parsed((Page(0, text),), (warning,))
