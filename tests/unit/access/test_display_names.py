"""What things may be called."""

import pytest

from services.access.messages.decode import MAX_DISPLAY_NAME, read_display_name
from services.shared.errors import FieldsInvalid
from services.shared.fields import Fields


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("  Handbuch ", "Handbuch"),
        ("Año 2026 (bis)", "Año 2026 (bis)"),
        ("عربى", "عربى"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("東京", "東京"),
        ("a" * MAX_DISPLAY_NAME, "a" * MAX_DISPLAY_NAME),
    ],
)
def test_names_of_all_scripts_stay_as_they_are(text: str, name: str) -> None:
    with Fields() as fields:
        assert read_display_name(fields, text) == name


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\u2003", "a" * (MAX_DISPLAY_NAME + 1)),
        *("\u200b", "\ufeff", "\u200d\u200d", "\u2060a", "\u0301"),
        *("a\nb", "a\0b", "a\u2028b", "a\u2029b", "a\x85b"),
        *("payroll\u202efdp", "\u2066a\u2069", "a\u200eb", "a\u00adb", "\U000e0041", "\U0001ffff"),
    ],
    ids=ascii,
)
def test_names_that_hide_turn_or_break_the_text_are_refused_by_field(text: str) -> None:
    with pytest.raises(FieldsInvalid) as refused, Fields() as fields:
        read_display_name(fields, text)
    assert [field.path for field in refused.value.fields] == ["display_name"]
