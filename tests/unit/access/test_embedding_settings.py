from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.access.bases.embedding_settings import (
    LOCAL,
    Serving,
    ServingEdit,
    apply,
    redirects,
    unnamed,
    violations,
)
from services.shared.embedding_providers import CATALOGUE, Need, Provider

KEY, ENDPOINT, URL = UUID(int=1), UUID(int=2), "https://a/v1"
ids = st.none() | st.uuids()
servings = st.builds(Serving, st.sampled_from(Provider), ids, ids, st.sampled_from(["", URL]))
edits = st.builds(
    ServingEdit,
    servings,
    st.frozensets(st.sampled_from(["provider", "secret_id", "endpoint_id", "base_url"])),
)

# What is wrong: in an organization, and outside of any.
PROVIDER, SECRET = "embedding_provider", "embedding_secret_id"
SERVER, ADDRESS = "embedding_endpoint_id", "embedding_base_url"
CASES = [
    (LOCAL, set(), set()),
    (Serving(Provider.LOCAL, KEY), {SECRET}, {SECRET}),
    (Serving(Provider.LOCAL, endpoint_id=ENDPOINT, base_url=URL), {SERVER, ADDRESS}, {SERVER, ADDRESS}),
    (Serving(Provider.OPENAI, KEY), set(), {PROVIDER}),
    (Serving(Provider.OPENAI), {SECRET}, {PROVIDER}),
    (Serving(Provider.OPENAI, KEY, base_url=URL), set(), {PROVIDER}),
    (Serving(Provider.OPENAI, KEY, ENDPOINT), {SERVER}, {PROVIDER}),
    (Serving(Provider.OPENROUTER, KEY, base_url=URL), set(), {PROVIDER}),
    (Serving(Provider.AZURE_OPENAI, KEY), {ADDRESS}, {PROVIDER}),
    (Serving(Provider.AZURE_OPENAI, KEY, base_url=URL), set(), {PROVIDER}),
    (Serving(Provider.OLLAMA, endpoint_id=ENDPOINT), set(), set()),
    (Serving(Provider.OLLAMA), {SERVER}, {SERVER}),
    (Serving(Provider.OLLAMA, KEY, ENDPOINT), {SECRET}, {SECRET}),
    (Serving(Provider.OLLAMA, None, ENDPOINT, URL), {ADDRESS}, {ADDRESS}),
    (Serving(Provider.OPENAI_COMPATIBLE, None, ENDPOINT), set(), set()),
    (Serving(Provider.OPENAI_COMPATIBLE, KEY, ENDPOINT), set(), {SECRET}),
]


@pytest.mark.parametrize(("serving", "inside", "outside"), CASES)
def test_what_a_provider_takes_is_named_by_field(
    serving: Serving, inside: set[str], outside: set[str]
) -> None:
    for in_organization, expected in ((True, inside), (False, outside)):
        found = violations(serving, in_organization=in_organization, complete=True)
        assert {violation.path for violation in found} == expected


@given(servings, st.booleans())
def test_what_may_be_missing_is_all_that_completeness_adds(serving: Serving, inside: bool) -> None:
    partial, whole = (
        {violation.path for violation in violations(serving, in_organization=inside, complete=complete)}
        for complete in (False, True)
    )
    given_fields = {
        SECRET: serving.secret_id is not None,
        SERVER: serving.endpoint_id is not None,
        ADDRESS: bool(serving.base_url),
    }
    assert partial <= whole
    assert not any(given_fields.get(path) for path in whole - partial)


@given(servings)
def test_outside_organizations_nothing_valid_has_a_key(serving: Serving) -> None:
    if not list(violations(serving, in_organization=False, complete=True)):
        assert serving.secret_id is None
        assert CATALOGUE[serving.provider].key is not Need.REQUIRED


@given(servings, edits)
def test_an_edit_sets_what_it_names_and_is_the_same_twice(before: Serving, edit: ServingEdit) -> None:
    after = apply(before, edit)
    assert apply(after, edit) == after
    assert all(getattr(after, name) == getattr(edit.to, name) for name in edit.named)
    assert apply(before, ServingEdit(edit.to)) == before


@given(servings, edits)
def test_with_another_provider_goes_all_that_was_the_former_ones(before: Serving, edit: ServingEdit) -> None:
    after = apply(before, edit)
    if after.provider is not before.provider:
        kept = {"secret_id", "endpoint_id", "base_url"} - edit.named
        assert all(not getattr(after, name) for name in kept)


@given(servings, edits)
def test_a_key_that_is_named_goes_nowhere_that_is_not(before: Serving, edit: ServingEdit) -> None:
    after = apply(before, edit)
    lent = "secret_id" in edit.named and after.secret_id not in {None, before.secret_id}
    unsaid = [name for name in ("endpoint_id", "base_url") if getattr(after, name) and name not in edit.named]
    assert [field.path for field in unnamed(before, after, edit.named)] == [
        f"embedding_{name}" for name in unsaid if lent
    ]


@given(servings, servings)
def test_a_key_goes_elsewhere_with_any_other_address(before: Serving, after: Serving) -> None:
    same = (before.provider, before.endpoint_id, before.base_url) == (
        after.provider,
        after.endpoint_id,
        after.base_url,
    )
    assert redirects(before, after) is not same
