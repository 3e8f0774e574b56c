"""Running embedding models away from the event loop, questions first, and remembering what they answered."""

from services.vectorstore.embedding.cache import EmbeddingCache
from services.vectorstore.embedding.embedders import Embedders, EmbeddingFailed
from services.vectorstore.embedding.line import Urgency

__all__ = ["Embedders", "EmbeddingCache", "EmbeddingFailed", "Urgency"]
