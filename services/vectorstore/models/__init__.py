"""Embedding models that run here, and the registry that knows which are installed."""

from services.vectorstore.models.base import EmbeddingModel, Vectors
from services.vectorstore.models.registry import (
    DEFAULT_MODEL,
    ModelSpec,
    ModelUnavailable,
    find,
    installed,
)

__all__ = ["DEFAULT_MODEL", "EmbeddingModel", "ModelSpec", "ModelUnavailable", "Vectors", "find", "installed"]
