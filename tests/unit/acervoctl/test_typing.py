"""Whoever imports the client from an installed distribution gets its types."""

from pathlib import Path

import acervo.ingest.v1.documents_pb2 as messages
import acervo_client


def test_the_client_and_the_messages_that_it_answers_say_that_they_are_typed() -> None:
    assert acervo_client.__file__ is not None
    assert Path(acervo_client.__file__).with_name("py.typed").exists()
    assert (Path(messages.__file__).parents[2] / "py.typed").exists()
