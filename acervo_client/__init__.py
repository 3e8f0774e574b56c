"""The typed Python client of Acervo.

    async with AcervoClient.local() as acervo:  # or AcervoClient(addresses, token)
        answer = await acervo.documents.upload(Path("handbook.pdf"), collection_name="handbook")
        async for change in acervo.documents.watch([answer.document.id]):
            print(change.document.stage)
        for passage in await acervo.search("How many days off?", collection_names=["handbook"]):
            print(passage.filename, passage.page, passage.excerpt)

`BlockingClient` does the same without asyncio. Both raise `AcervoError`.
"""

from acervo_client.blocking import BlockingClient
from acervo_client.client import AcervoClient
from acervo_client.errors import AcervoError, FieldError
from acervo_client.local import LocalStackError
from acervo_client.uploads import UploadOptions

__all__ = ["AcervoClient", "AcervoError", "BlockingClient", "FieldError", "LocalStackError", "UploadOptions"]
