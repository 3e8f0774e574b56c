"""The kinds of secrets: what is right in them, and that no refusal holds what was wrong."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo.access.v1.secrets_pb2 import SecretValue
from services.access.vault.kinds import KINDS, SecretKind, Values, decode, encode, hint, violations

ACCOUNT = {
    "type": "service_account",
    "client_email": "acervo@acme.iam.gserviceaccount.com",
    "private_key": "-----",
}
RIGHT: dict[SecretKind, list[tuple[Values, str]]] = {
    SecretKind.API_KEY: [({"provider": "openrouter", "key": "sk-1"}, "openrouter")],
    SecretKind.AWS_CREDENTIALS: [
        ({"access_key_id": "AKIA", "secret_access_key": "s/+="}, ""),
        (
            {"access_key_id": "A", "secret_access_key": "s", "session_token": "t", "region": "eu-central-1"},
            "eu-central-1",
        ),
    ],
    SecretKind.GCP_SERVICE_ACCOUNT: [
        ({"json": json.dumps(ACCOUNT, indent=2)}, ACCOUNT["client_email"]),
        (
            {"json": json.dumps({**ACCOUNT, "token_uri": "https://oauth2.googleapis.com/token"})},
            ACCOUNT["client_email"],
        ),
        (
            {"json": json.dumps({**ACCOUNT, "token_uri": "https://accounts.google.com/o/oauth2/token"})},
            ACCOUNT["client_email"],
        ),
    ],
    SecretKind.AZURE_CREDENTIALS: [
        ({"account_name": "acme", "account_key": "k=="}, "acme"),
        ({"account_name": "acme", "sas_token": "?sv=1&sig=2"}, "acme"),
        ({"account_name": "acme", "tenant_id": "t", "client_id": "c", "client_secret": "s"}, "acme"),
    ],
    SecretKind.GIT_TOKEN: [({"token": "ghp_1"}, ""), ({"username": "ana b", "token": "ghp_1"}, "ana b")],
    SecretKind.ATLASSIAN_TOKEN: [({"email": "ana@acme.example", "token": "t"}, "ana@acme.example")],
    SecretKind.GRAPH_APP: [({"tenant_id": "t", "client_id": "c", "client_secret": "s~"}, "t")],
    SecretKind.NOTION_TOKEN: [({"token": "secret_1"}, "")],
}
MARK = "Zm9vYmFy"
WRONG: list[tuple[SecretKind, Values, list[str]]] = [
    *((kind, {}, [field.name for field in KINDS[kind].fields if field.required]) for kind in SecretKind),
    *(
        (SecretKind.API_KEY, {"provider": "openai", "key": wrong}, ["key"])
        for wrong in ("", f"{MARK}\n", f" {MARK}", f"{MARK}é", MARK * 1000)
    ),
    *(
        (SecretKind.API_KEY, {"provider": wrong, "key": "k"}, ["provider"])
        for wrong in ("", MARK, "a b", "a" * 65)
    ),
    (SecretKind.API_KEY, {"provider": MARK, "key": f"{MARK} "}, ["provider", "key"]),
    (SecretKind.GIT_TOKEN, {"username": " ana", "token": "t"}, ["username"]),
    (SecretKind.GIT_TOKEN, {"username": "an\0a", "token": "t"}, ["username"]),
    *(
        (SecretKind.ATLASSIAN_TOKEN, {"email": wrong, "token": "t"}, ["email"])
        for wrong in (MARK, f"{MARK}@", "a b@c")
    ),
    (SecretKind.AZURE_CREDENTIALS, {"account_name": "acme"}, ["account_key"]),
    (
        SecretKind.AZURE_CREDENTIALS,
        {"account_name": "acme", "account_key": MARK, "sas_token": MARK},
        ["account_key"],
    ),
    (
        SecretKind.AZURE_CREDENTIALS,
        {"account_name": "acme", "tenant_id": "t", "client_secret": MARK},
        ["account_key"],
    ),
    (SecretKind.AZURE_CREDENTIALS, {"account_name": "Acme", "account_key": "k"}, ["account_name"]),
    *(
        (SecretKind.GCP_SERVICE_ACCOUNT, {"json": wrong}, ["json"])
        for wrong in (
            MARK,
            f'{{"{MARK}',
            "[]",
            "[" * 16384,
            json.dumps({**ACCOUNT, "type": "authorized_user", "private_key": MARK}),
            json.dumps({**ACCOUNT, "client_email": MARK}),
            json.dumps({**ACCOUNT, "client_email": 1}),
            json.dumps({**ACCOUNT, "private_key": None}),
            json.dumps({**ACCOUNT, "token_uri": "http://oauth2.googleapis.com/token"}),
            json.dumps({**ACCOUNT, "token_uri": f"https://{MARK}.example/googleapis.com"}),
            json.dumps({**ACCOUNT, "token_uri": "https://[googleapis.com"}),
            json.dumps({**ACCOUNT, "token_uri": 1}),
            json.dumps({**ACCOUNT, "private_key": MARK * 3000}),
        )
    ),
]


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in RIGHT.items() for case in cases])
def test_what_is_right_is_taken_and_hinted_at(kind: SecretKind, case: tuple[Values, str]) -> None:
    values, told = case
    assert violations(kind, values) == []
    assert hint(kind, values) == told
    assert decode(encode(values)) == values


@pytest.mark.parametrize(("kind", "values", "paths"), WRONG)
def test_what_is_wrong_is_named_by_its_field_and_not_repeated(
    kind: SecretKind, values: Values, paths: list[str]
) -> None:
    found = violations(kind, values)
    assert [violation.path for violation in found] == paths
    assert not any(MARK in violation.message for violation in found)


@given(st.recursive(st.none() | st.booleans() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_any_json_is_judged_and_none_raises(account: Any) -> None:
    values = {"json": json.dumps(account)}
    assert violations(SecretKind.GCP_SERVICE_ACCOUNT, values)


@given(st.dictionaries(st.text(), st.text()))
def test_what_is_sealed_is_read_as_it_was(values: Values) -> None:
    assert decode(encode(values)) == values


def messages() -> dict[str, Any]:
    return {field.name: field.message_type for field in SecretValue.DESCRIPTOR.fields}


def is_secret(field: Any) -> bool:
    return bool(field.GetOptions().debug_redact)


def test_no_hint_is_of_a_field_that_is_secret() -> None:
    for kind, cases in RIGHT.items():
        secret = {field.name for field in messages()[kind].fields if is_secret(field)} - {"json"}
        for values, told in cases:
            assert not told or told not in {values[name] for name in secret & values.keys()}


def test_the_table_has_the_fields_of_the_contract_and_the_contract_marks_those_that_are_secret() -> None:
    assert messages().keys() == set(SecretKind)
    for kind, message in messages().items():
        fields = KINDS[SecretKind(kind)].fields
        assert [field.name for field in fields] == [field.name for field in message.fields]
        assert [not field.required for field in fields] == [field.has_presence for field in message.fields]
        assert any(map(is_secret, message.fields))
