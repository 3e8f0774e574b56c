import pytest
from hypothesis import given
from hypothesis import strategies as st

from acervo.common.v1 import ingestion_config_pb2 as pb
from services.shared.errors import FieldsInvalid
from services.shared.ingestion_config import (
    CHUNK_OVERLAP,
    CHUNK_SIZE,
    DEFAULT,
    ChunkingStrategy,
    IngestionConfig,
    Override,
    Parser,
    merge,
)
from services.shared.ingestion_config_codec import (
    config_from_json,
    config_from_proto,
    config_to_json,
    config_to_proto,
    override_from_proto,
)

sizes = st.integers(CHUNK_SIZE.start, CHUNK_SIZE.stop - 1)
overrides = st.builds(
    Override,
    parser=st.none() | st.sampled_from(Parser),
    chunk_size=st.none() | st.integers(-10, 10_000),
    chunk_overlap=st.none() | st.integers(-10, 10_000),
    chunking_strategy=st.none() | st.sampled_from(ChunkingStrategy),
)


@st.composite
def configs(draw: st.DrawFn) -> IngestionConfig:
    size = draw(sizes)
    overlap = draw(st.integers(0, min(size, CHUNK_OVERLAP.stop) - 1))
    return IngestionConfig(chunk_size=size, chunk_overlap=overlap)


def fields_of(base: IngestionConfig, override: Override) -> list[str]:
    with pytest.raises(FieldsInvalid) as refused:
        merge(base, override)
    return [violation.path for violation in refused.value.fields]


def test_the_default_is_valid_and_an_empty_override_changes_nothing() -> None:
    assert merge(DEFAULT, Override()) == DEFAULT
    assert (DEFAULT.chunk_size, DEFAULT.chunk_overlap) == (2500, 200)


@pytest.mark.parametrize("size", [100, 8192])
def test_the_bounds_of_the_size_belong_to_it(size: int) -> None:
    assert merge(DEFAULT, Override(chunk_size=size, chunk_overlap=0)).chunk_size == size


@pytest.mark.parametrize("size", [-1, 0, 99, 8193])
def test_a_size_beyond_its_bounds_is_refused_by_field(size: int) -> None:
    assert "ingestion_config.chunk_size" in fields_of(DEFAULT, Override(chunk_size=size))


@pytest.mark.parametrize("overlap", [0, 4096])
def test_the_bounds_of_the_overlap_belong_to_it(overlap: int) -> None:
    assert merge(DEFAULT, Override(chunk_size=8192, chunk_overlap=overlap)).chunk_overlap == overlap


@pytest.mark.parametrize("overlap", [-1, 4097])
def test_an_overlap_beyond_its_bounds_is_refused_by_field(overlap: int) -> None:
    assert fields_of(DEFAULT, Override(chunk_size=8192, chunk_overlap=overlap)) == [
        "ingestion_config.chunk_overlap"
    ]


def test_the_pair_is_judged_as_merged_whoever_set_which() -> None:
    assert fields_of(DEFAULT, Override(chunk_size=200)) == ["ingestion_config"]
    assert fields_of(IngestionConfig(chunk_size=300, chunk_overlap=100), Override(chunk_overlap=300)) == [
        "ingestion_config"
    ]
    assert merge(DEFAULT, Override(chunk_size=201)).chunk_size == 201
    assert merge(DEFAULT, Override(chunk_size=200, chunk_overlap=199)).chunk_overlap == 199


def test_every_broken_rule_is_told_at_once() -> None:
    broken = fields_of(DEFAULT, Override(chunk_size=1, chunk_overlap=5000))
    assert broken == ["ingestion_config.chunk_size", "ingestion_config.chunk_overlap", "ingestion_config"]


@given(configs(), overrides)
def test_what_merges_keeps_every_rule_and_takes_what_was_set(
    base: IngestionConfig, override: Override
) -> None:
    try:
        merged = merge(base, override)
    except FieldsInvalid:
        return
    assert merged.chunk_size in CHUNK_SIZE
    assert merged.chunk_overlap in CHUNK_OVERLAP
    assert merged.chunk_overlap < merged.chunk_size
    for name in ("parser", "chunk_size", "chunk_overlap", "chunking_strategy"):
        wanted = getattr(override, name)
        assert getattr(merged, name) == (getattr(base, name) if wanted is None else wanted)
    assert merge(merged, Override()) == merged


@given(configs())
def test_a_configuration_survives_the_wire_and_the_row(config: IngestionConfig) -> None:
    assert config_from_proto(config_to_proto(config)) == config
    assert config_from_json(config_to_json(config)) == config


def test_what_a_message_does_not_set_is_left_as_it_was_and_zero_is_a_setting() -> None:
    assert override_from_proto(pb.IngestionConfig()) == Override()
    unspecified = pb.IngestionConfig(parser=pb.PARSER_UNSPECIFIED, chunk_overlap=0)
    assert override_from_proto(unspecified) == Override(chunk_overlap=0)
    assert override_from_proto(config_to_proto(DEFAULT)) == Override(
        DEFAULT.parser, DEFAULT.chunk_size, DEFAULT.chunk_overlap, DEFAULT.chunking_strategy
    )


@pytest.mark.parametrize("field", ["parser", "chunking_strategy"])
def test_a_value_that_this_version_does_not_know_is_refused_and_not_ignored(field: str) -> None:
    with pytest.raises(FieldsInvalid) as refused:
        override_from_proto(pb.IngestionConfig(**{field: 99}))  # type: ignore[arg-type]
    assert [violation.path for violation in refused.value.fields] == [f"ingestion_config.{field}"]


@given(configs(), overrides)
def test_merging_nothing_changes_nothing_and_merging_twice_is_merging_once(
    base: IngestionConfig, override: Override
) -> None:
    assert merge(base, Override()) == base
    try:
        merged = merge(base, override)
    except FieldsInvalid:
        return
    assert merge(merged, override) == merged
