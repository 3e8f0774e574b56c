"""The base behind a collection's name, for commands that write."""

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo_client import AcervoClient, AcervoError
from acervoctl.errors import CommandError


async def ensure_base(client: AcervoClient, collection_name: str) -> KnowledgeBase:
    """The base that the caller sees under this name; a personal one is made where there is none.

    Raises `CommandError` where several are in question: a write needs one.
    """
    base = await find_base(client, collection_name)
    if base is not None:
        return base
    try:
        return await client.bases.create(collection_name, collection_name=collection_name)
    except AcervoError as error:
        base = await find_base(client, collection_name) if error.reason == "NAME_TAKEN" else None
        if base is None:
            raise
        return base


async def find_base(client: AcervoClient, collection_name: str) -> KnowledgeBase | None:
    """The base that the caller sees under this name, or None. Raises `CommandError` where there are several."""
    bases = [base async for base in client.bases.list(collection_name=collection_name)]
    if len(bases) > 1:
        own = (await client.who_am_i()).user_id
        bases = [base for base in bases if base.owner_user_id == own] or bases
    if len(bases) > 1:
        raise CommandError(f"{collection_name} stands for {len(bases)} knowledge bases of yours")
    return bases[0] if bases else None
