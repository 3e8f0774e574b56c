import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.names import (
    MAX_IDENTIFIER_BYTES,
    MAX_LENGTH,
    OWN_TABLES,
    RESERVED,
    NameInvalid,
    broken_rule,
    check_collection_name,
    derive_collection_name,
    index_name,
    table_name,
)

OWN = frozenset({"documents"})
accepted = st.from_regex(rf"[a-z_][a-z0-9_]{{0,{MAX_LENGTH - 1}}}", fullmatch=True).filter(
    lambda name: broken_rule(name) is None
)
generations = st.integers(1, 999_999)
purposes = st.from_regex(r"[a-z]{1,4}", fullmatch=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Handbook", "capitals"),
        ("ÁRBOL", "capitals"),
        ("", "made of a-z"),
        ("1st", "made of a-z"),
        ("two words", "made of a-z"),
        ("a-b", "made of a-z"),
        ("año", "made of a-z"),
        ("a\n", "made of a-z"),
        ('a"; DROP TABLE x; --', "capitals"),
        ("a\x00", "made of a-z"),
        ("a" * (MAX_LENGTH + 1), f"at most {MAX_LENGTH} characters; this one has {MAX_LENGTH + 1}"),
        ("all", "reserved"),
        ("documents", "own tables"),
    ],
)
def test_each_rule_refuses_by_name(name: str, words: str) -> None:
    with pytest.raises(NameInvalid, match=words) as refused:
        check_collection_name(name, OWN)
    assert [violation.path for violation in refused.value.fields] == ["collection_name"]


@pytest.mark.parametrize("name", ["a", "_", "a1", "documents_archive", "select", "a" * MAX_LENGTH, "alle"])
def test_what_breaks_no_rule_passes(name: str) -> None:
    check_collection_name(name, OWN)


def test_no_name_of_the_longest_allowed_length_is_cut_off_by_postgresql() -> None:
    assert len(index_name("a" * MAX_LENGTH, 999_999, "hnsw")) <= MAX_IDENTIFIER_BYTES


@given(accepted, generations, purposes)
def test_every_identifier_fits_and_is_the_same_quoted_or_folded(
    name: str, generation: int, purpose: str
) -> None:
    for identifier in (table_name(name, generation), index_name(name, generation, purpose)):
        assert len(identifier.encode()) <= MAX_IDENTIFIER_BYTES
        assert identifier == identifier.lower()
        assert re.fullmatch(r"[a-z_][a-z0-9_]*", identifier)


@given(st.lists(st.tuples(accepted, generations, purposes), min_size=2, max_size=8, unique=True))
def test_no_two_tables_or_indexes_share_an_identifier(parts: list[tuple[str, int, str]]) -> None:
    tables = {(name, generation): table_name(name, generation) for name, generation, _ in parts}
    indexes = {part: index_name(*part) for part in parts}
    identifiers = [*tables.values(), *indexes.values()]
    assert len(set(identifiers)) == len(tables) + len(indexes)


def test_names_that_look_like_generations_or_indexes_of_others_do_not_collide() -> None:
    names = ["a", "a_g1", "a_g1_g1", "a_g1_hnsw", "a_g11"]
    identifiers = [table_name(name, generation) for name in names for generation in (1, 11)]
    identifiers += [index_name(name, generation, "hnsw") for name in names for generation in (1, 11)]
    assert len(set(identifiers)) == len(identifiers)


@given(accepted, generations)
def test_no_collections_table_is_one_of_acervos_own(name: str, generation: int) -> None:
    assert table_name(name, generation).removeprefix("rag_") not in {*OWN_TABLES, "documents"}


@given(st.text(max_size=200), st.from_regex(r"[0-9a-f]{6}", fullmatch=True))
def test_a_derived_name_passes_whatever_it_is_derived_from(display_name: str, suffix: str) -> None:
    name = derive_collection_name(display_name, suffix)
    check_collection_name(name, OWN | {"all"})
    assert name.endswith(f"_{suffix}")


@pytest.mark.parametrize(
    ("display_name", "derived"),
    [
        ("Handbook 2024", "handbook_2024_0a1b2c"),
        ("2024", "base_2024_0a1b2c"),
        ("日本語", "base_0a1b2c"),
        ("", "base_0a1b2c"),
        ("  Ärzte & Co. ", "rzte_co_0a1b2c"),
        ("x" * 100, "x" * 38 + "_0a1b2c"),
    ],
)
def test_a_derived_name_keeps_what_can_be_kept(display_name: str, derived: str) -> None:
    assert derive_collection_name(display_name, "0a1b2c") == derived


@pytest.mark.parametrize("suffix", ["", "0a1b2", "0a1b2c3", "0A1B2C", "zzzzzz", "0a1b2c\n"])
def test_a_suffix_is_six_hexadecimal_characters(suffix: str) -> None:
    with pytest.raises(ValueError, match="hexadecimal"):
        derive_collection_name("x", suffix)


@pytest.mark.parametrize("generation", [0, -1, 1_000_000])
def test_a_generation_has_bounds(generation: int) -> None:
    with pytest.raises(ValueError, match="generation"):
        table_name("a", generation)


def test_a_table_is_never_named_for_a_refused_name() -> None:
    for name in (*RESERVED, "A", "a b", "a" * 46):
        with pytest.raises(NameInvalid):
            table_name(name, 1)
