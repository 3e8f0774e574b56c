"""Embedding models that run here, and the registry that knows which are installed."""

from services.vectorstore.models.base import EmbeddingModel, Space, Vectors
from services.vectorstore.models.registry import (
    DEFAULT_MODEL,
    ModelSpec,
    ModelUnavailable,
    WidthMismatch,
    find,
    installed,
    named,
)

__all__ = [
    "DEFAULT_MODEL",
    "EmbeddingModel",
    "ModelSpec",
    "ModelUnavailable",
    "Space",
    "Vectors",
    "WidthMismatch",
    "find",
    "installed",
    "named",
]
