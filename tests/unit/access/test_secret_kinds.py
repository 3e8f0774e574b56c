"""The kinds of secrets: what is right in them, and that no refusal holds what was wrong."""

import json
import posixpath
import re
from typing import Any
from urllib.parse import urlsplit

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
        {"account_name": "acme", "account_key": MARK, "sas_token": f"sig={MARK}"},
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


# What would make a host, a path or a query of another address of what it is put into.
HOSTILE = [
    *(
        "evil.example/",
        "a/b",
        "a#b",
        "a@evil.example",
        "a?b",
        "a\\.b",
        "a:80",
        "a%2fb",
        "..",
        ".",
        "a..b",
        ".a",
    ),
    *("a.", "-a", "a-", "a--b", "a b", "a;b", "a,b", "[::1]", "ä", "a\n", "a\x00", "ａ", "a_b"),
]
PLACES = [
    (SecretKind.AWS_CREDENTIALS, "region"),
    (SecretKind.AZURE_CREDENTIALS, "account_name"),
    (SecretKind.AZURE_CREDENTIALS, "tenant_id"),
    (SecretKind.AZURE_CREDENTIALS, "client_id"),
    (SecretKind.GRAPH_APP, "tenant_id"),
    (SecretKind.GRAPH_APP, "client_id"),
]
IN_ADDRESSES = st.text(st.sampled_from("aZ09.-/\\#?@:%&=_ \n[]") | st.characters(), min_size=1, max_size=40)


def fault(kind: SecretKind, name: str, value: str) -> str | None:
    (field,) = (field for field in KINDS[kind].fields if field.name == name)
    return field.fault(value)


@pytest.mark.parametrize(("kind", "name"), PLACES)
@pytest.mark.parametrize("value", HOSTILE)
def test_what_stands_in_an_address_is_a_name(kind: SecretKind, name: str, value: str) -> None:
    assert fault(kind, name, value)


@given(st.sampled_from(PLACES), IN_ADDRESSES)
def test_a_name_leaves_the_address_that_it_stands_in_as_it_was(
    place: tuple[SecretKind, str], value: str
) -> None:
    if fault(*place, value) is None:
        assert urlsplit(f"https://s3.{value}.example/x").hostname == f"s3.{value.lower()}.example"
        assert posixpath.normpath(urlsplit(f"https://login.example/{value}/t").path) == f"/{value}/t"


@pytest.mark.parametrize(
    "value",
    [
        "@evil.example",
        ".evil.example",
        "/a",
        "a",
        "a=b#c",
        "a=b@c",
        "a=\\",
        "a=b&",
        "?",
        "a=b?c",
        "a=é",
        "a=b c",
    ],
)
def test_what_is_appended_to_an_address_is_a_query(value: str) -> None:
    assert fault(SecretKind.AZURE_CREDENTIALS, "sas_token", value)


GOOGLES = {
    "token_uri": "https://oauth2.googleapis.com/token",
    "universe_domain": "googleapis.com",
    "project_id": "acme.example:acme-1",
    "client_email": "a.b@acme.iam.gserviceaccount.com",
}
NOT_GOOGLES = [
    *(("token_uri", f"https://evil.com{mark}.googleapis.com/") for mark in "\\/#?@:%& \n\t;,"),
    *(
        ("token_uri", text)
        for text in (
            *("https://googleapis.com.evil.com/", "https://evilgoogleapis.com/", "https://.googleapis.com/"),
            *("https://a@oauth2.googleapis.com/", "https://oauth2.googleapis.com:80/", "//a.googleapis.com/"),
            *(
                "https://a.googleapis.com/..\\evil",
                "https://a.googleapis.com/?a",
                "https://a.googleapis.com/#a",
            ),
            *("https://a..googleapis.com/", "https://a.googleapis.com./", "https:\\a.googleapis.com/"),
            "https://accounts.google.com.evil.com/",
        )
    ),
    *(
        ("universe_domain", text)
        for text in ("", "evil.com", "googleapis.com.evil.com", "googleapis.com/", 1)
    ),
    *(("project_id", text) for text in ("", "a/../b", "a#b", "a?b", "a b", "..", "a:b:c", 1, None)),
    *(("client_email", text) for text in ("a/b@c.d", "a@c/d", "a@b@c", "a#b@c", "a?@c", "a\\@c", "a%2f@c")),
]


def test_what_google_gives_out_is_taken() -> None:
    assert not violations(SecretKind.GCP_SERVICE_ACCOUNT, {"json": json.dumps({**ACCOUNT, **GOOGLES})})


@pytest.mark.parametrize(("name", "value"), NOT_GOOGLES)
def test_no_part_of_a_service_account_leads_elsewhere(name: str, value: object) -> None:
    assert violations(SecretKind.GCP_SERVICE_ACCOUNT, {"json": json.dumps({**ACCOUNT, name: value})})


@given(IN_ADDRESSES)
def test_a_token_uri_has_a_host_of_googles_whatever_stands_before_it(text: str) -> None:
    account = {**ACCOUNT, "token_uri": f"https://{text}.googleapis.com/token"}
    if not violations(SecretKind.GCP_SERVICE_ACCOUNT, {"json": json.dumps(account)}):
        assert re.fullmatch(r"[A-Za-z0-9.-]+", text)


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
