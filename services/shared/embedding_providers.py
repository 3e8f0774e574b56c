"""Who serves embedding models: the catalogue of providers, as one table. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Provider(StrEnum):
    """Who serves an embedding model. A key for one of them is a secret of kind api_key with that provider."""

    LOCAL = "local"
    """The models that are installed with the deployment."""
    OPENAI = "openai"
    OPENROUTER = "openrouter"
    AZURE_OPENAI = "azure_openai"
    OLLAMA = "ollama"
    OPENAI_COMPATIBLE = "openai_compatible"
    """TEI, vLLM, LM Studio and whatever else speaks as OpenAI does."""


class Need(StrEnum):
    """Whether a provider takes something."""

    REFUSED = "refused"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a provider takes."""

    key: Need = Need.REFUSED
    endpoint: Need = Need.REFUSED
    """The registered server that answers in its name."""
    base_url: Need = Need.REFUSED
    default_url: str = ""
    """Where it answers if the base names no address. Empty: it has none of its own."""


CATALOGUE: Mapping[Provider, Terms] = MappingProxyType(
    {
        Provider.LOCAL: Terms(),
        Provider.OPENAI: Terms(
            Need.REQUIRED, base_url=Need.OPTIONAL, default_url="https://api.openai.com/v1"
        ),
        Provider.OPENROUTER: Terms(
            Need.REQUIRED, base_url=Need.OPTIONAL, default_url="https://openrouter.ai/api/v1"
        ),
        Provider.AZURE_OPENAI: Terms(Need.REQUIRED, base_url=Need.REQUIRED),
        Provider.OLLAMA: Terms(endpoint=Need.REQUIRED),
        Provider.OPENAI_COMPATIBLE: Terms(Need.OPTIONAL, endpoint=Need.REQUIRED),
    }
)
