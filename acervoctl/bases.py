"""The base that a command means, by its id or by its collection's name."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from acervo.access.v1.knowledge_bases_pb2 import KnowledgeBase
from acervo.ingest.v1.documents_pb2 import Document, DocumentState
from acervo_client import AcervoClient, AcervoError
from acervoctl import encode
from acervoctl.errors import CommandError


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command works: exactly one of the two is given."""

    collection_name: str = ""
    knowledge_base_id: str = ""
    operator: bool = False
    """Whether the collection's hidden base is meant, where operators' content stands."""

    @classmethod
    def of(cls, collection: str | None, base: str | None, *, operator: bool = False) -> "Place":
        """What the options say. Raises `CommandError` unless there is just one."""
        if (collection is None) == (base is None):
            raise CommandError("say where: either --collection NAME or --base ID", advice="See --help.")
        if operator and collection is None:
            raise CommandError("--operator goes with --collection NAME", advice="See --help.")
        return cls(collection or "", base or "", operator)

    @property
    def listing(self) -> str:
        """The command that tells what is there."""
        if self.operator:
            return f"acervo collections provenance {self}"
        return (
            f"acervo documents --collection {self}"
            if self.collection_name
            else f"acervo documents --base {self}"
        )

    def __str__(self) -> str:
        return self.collection_name or self.knowledge_base_id

    def documents(
        self, client: AcervoClient, states: Iterable[DocumentState] = ()
    ) -> AsyncIterator[Document]:
        """The documents there, newest first; of a name, those of all its bases that the caller sees."""
        return client.documents.list(
            collection_name=self.collection_name, knowledge_base_id=self.knowledge_base_id, states=states
        )

    async def base(self, client: AcervoClient) -> KnowledgeBase:
        """The base. Raises `CommandError` where several are in question, and `AcervoError`."""
        found = await self.find(client)
        if found is None:
            raise AcervoError("NOT_FOUND", f"There is no collection {self}.")
        return found

    async def ensure(self, client: AcervoClient) -> KnowledgeBase:
        """The base; a personal or the operators' one is made where there is none. Raises what `base` raises."""
        found = await self.find(client)
        if found is not None:
            return found
        name = self.collection_name
        if self.operator:
            return await client.collections.open_operator_base(name)
        try:
            return await client.bases.create(name, collection_name=name)
        except AcervoError as error:
            if error.reason != "NAME_TAKEN" or (found := await self.find(client)) is None:
                raise
            return found

    async def find(self, client: AcervoClient) -> KnowledgeBase | None:
        """The base, or None where the caller sees none of the name, as of hidden ones. Raises what `base` raises."""
        if self.operator:
            return None
        if self.knowledge_base_id:
            return await client.bases.get(self.knowledge_base_id)
        bases = [base async for base in client.bases.list(collection_name=self.collection_name)]
        if len(bases) < 2:
            return bases[0] if bases else None
        own = (await client.who_am_i()).user_id
        mine = [base for base in bases if base.owner_user_id == own]
        if len(mine) == 1:
            return mine[0]
        candidates = ", ".join(_described(base, own) for base in mine or bases)
        raise CommandError(
            f"{self} stands for {len(mine or bases)} knowledge bases: {candidates}",
            advice="Choose one with --base ID.",
            reason="COLLECTION_AMBIGUOUS",
        )


def _described(base: KnowledgeBase, own: str) -> str:
    owner = "yours" if base.owner_user_id == own else f"of {base.owner_user_id or 'the operators'}"
    return f"{base.id} ({base.display_name}, {encode.scope_name(base.scope)}, {owner})"
