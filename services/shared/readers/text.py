"""Plain text: decoded, and nothing else."""

from collections.abc import Iterator

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.readers.encodings import Decoded, decode
from services.shared.readers.result import Limits, Page, Parsed, ReadError, ReadWarning
from services.shared.sniffing import is_text

_REPLACEMENT = "\ufffd"
_WORD_LENGTH = 8
_TWO = 2
_NAMES = {f"cp{number}": f"Windows-{number}" for number in range(1250, 1259)} | {
    "cp874": "Windows-874",
    "cp932": "Shift JIS",
    "cp949": "EUC-KR",
    "iso8859_2": "ISO 8859-2",
    "iso8859_5": "ISO 8859-5",
    "mac_roman": "Mac Roman",
}


def read(data: bytes, _limits: Limits) -> Parsed:
    """Decode `data`.

    Raises:
        ReadError: FILE_CORRUPT if it is no text, or text in no known encoding; NO_TEXT if its encoding is unknown and
            one or two characters are all that it ever says.
    """
    if not is_text(data):
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT, "The file is not text.")
    decoded = decode(data)
    if decoded.guessed and _is_monotonous(decoded.text):
        raise ReadError(pb.ERROR_REASON_NO_TEXT)
    replaced = decoded.text.count(_REPLACEMENT)
    if replaced * 10 > len(decoded.text):
        raise ReadError(pb.ERROR_REASON_FILE_CORRUPT, "The file is text in no known encoding.")
    return Parsed((Page(0, decoded.text),), tuple(_warnings(decoded, replaced)))


def _is_monotonous(text: str) -> bool:
    """Whether a text is longer than a word and has at most two different characters, blanks aside."""
    written = "".join(text.split())
    return len(written) > _WORD_LENGTH and len(set(written)) <= _TWO


def _warnings(decoded: Decoded, replaced: int) -> Iterator[ReadWarning]:
    if not decoded.encoding:
        yield ReadWarning("encoding_unknown", f"Bytes that fit no known encoding were replaced: {replaced}.")
        return
    if decoded.guessed:
        name = _NAMES.get(decoded.encoding, decoded.encoding.replace("_", "-").upper())
        yield ReadWarning(
            "encoding_guessed",
            f"The file does not say its encoding and was read as {name}. If letters look wrong, save it as UTF-8.",
        )
    if replaced:
        yield ReadWarning("bytes_replaced", f"{replaced} places are not valid in the file's encoding.")
