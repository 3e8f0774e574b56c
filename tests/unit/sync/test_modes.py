"""Which files a run takes, by its mode."""

import pytest

from services.sync.modes import Held, Mode, worth_fetching, worth_taking

OLD, NEW = b"o" * 32, b"n" * 32
SOUND = Held(OLD, "signal-1")
UNSOUND = Held(None, "signal-1")


@pytest.mark.parametrize(
    ("mode", "held", "signal", "fetched"),
    [
        (Mode.NEW_ONLY, None, "signal-1", True),
        (Mode.NEW_ONLY, SOUND, "signal-1", False),
        (Mode.NEW_ONLY, SOUND, "signal-2", True),
        (Mode.UPDATE_ONLY, None, "signal-1", False),
        (Mode.UPDATE_ONLY, SOUND, "signal-1", False),
        (Mode.UPDATE_ONLY, SOUND, "signal-2", True),
        (Mode.FULL, None, "signal-1", True),
        (Mode.FULL, SOUND, "signal-1", True),
    ],
)
def test_only_bytes_that_may_be_needed_are_fetched(
    mode: Mode, held: Held | None, signal: str, fetched: bool
) -> None:
    assert worth_fetching(mode, signal, held) is fetched


@pytest.mark.parametrize("mode", [Mode.NEW_ONLY, Mode.UPDATE_ONLY])
def test_a_file_without_a_signal_is_fetched_to_be_compared(mode: Mode) -> None:
    assert worth_fetching(mode, "", Held(OLD, ""))


@pytest.mark.parametrize("mode", list(Mode))
def test_a_file_whose_document_has_no_hash_is_taken_again(mode: Mode) -> None:
    assert worth_fetching(mode, "signal-1", UNSOUND)
    assert worth_taking(mode, OLD, UNSOUND)


@pytest.mark.parametrize("mode", [Mode.NEW_ONLY, Mode.UPDATE_ONLY])
def test_equal_bytes_are_left_as_they_are_whatever_the_signal_says(mode: Mode) -> None:
    assert not worth_taking(mode, OLD, Held(OLD, "signal-2"))


@pytest.mark.parametrize("mode", list(Mode))
def test_other_bytes_are_taken(mode: Mode) -> None:
    assert worth_taking(mode, NEW, SOUND)


def test_full_takes_equal_bytes_too() -> None:
    assert worth_taking(Mode.FULL, OLD, SOUND)
