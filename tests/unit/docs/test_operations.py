from tools import settings_table


def test_the_page_lists_every_setting_as_the_code_has_it() -> None:
    text = settings_table.PAGE.read_text(encoding="utf-8")
    assert settings_table.page_with(text) == text, "run python tools/settings_table.py"
