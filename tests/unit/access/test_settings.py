"""Who the deployment's admins are."""

from uuid import UUID

import pytest
from pydantic import ValidationError

from services.access.settings import AccessSettings
from services.shared.identity import user_id

NEEDED = {"database_url": "", "nats_url": "", "blob_url": "", "issuers": "i", "service_tokens": "t"}


@pytest.mark.parametrize(
    ("value", "admins"),
    [
        ("", set()),
        (" , ", set()),
        (str(UUID(int=5)), {UUID(int=5)}),
        ("https://a.example#ana", {user_id("https://a.example", "ana")}),
        ("https://a.example#a#b", {user_id("https://a.example", "a#b")}),
        (
            f"https://a.example#ana, {UUID(int=5)}",
            {user_id("https://a.example", "ana"), UUID(int=5)},
        ),
    ],
)
def test_admins_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, admins: set[UUID]
) -> None:
    monkeypatch.setenv("ACERVO_ADMINS", value)
    assert AccessSettings.model_validate(NEEDED).admins == admins


def test_what_names_nobody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACERVO_ADMINS", "ana")
    with pytest.raises(ValidationError):
        AccessSettings.model_validate(NEEDED)
