"""What an audit event tells."""

from uuid import UUID

import pytest

from services.access.audit.events import Action, Detail, Event, ObjectKind, details

OBJECT, ORGANIZATION = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize("name", ["ingestion_config", "key", "config", ""])
def test_an_event_has_no_place_for_documents_and_secrets(name: str) -> None:
    with pytest.raises(ValueError, match="Detail"):
        details(**{name: "x"})
    with pytest.raises(ValueError, match="tells nothing"):
        Event(Action.TEAM_CREATED, None, ObjectKind.TEAM, OBJECT, after={name: "x"})  # type: ignore[dict-item]


def test_details_are_names_and_ids_and_leave_out_what_is_not_there() -> None:
    assert details(display_name="Sales", team_id=OBJECT, user_id=None) == {
        Detail.DISPLAY_NAME: "Sales",
        Detail.TEAM_ID: str(OBJECT),
    }


def test_an_event_stands_in_one_log() -> None:
    with pytest.raises(ValueError, match="deployment"):
        Event(Action.TEAM_CREATED, ORGANIZATION, ObjectKind.TEAM, OBJECT, deployment=True)


@pytest.mark.parametrize("action", list(Action))
def test_an_action_is_a_kind_of_thing_and_what_became_of_it(action: Action) -> None:
    thing, _, verb = action.partition(".")
    assert thing.replace("_", "").isalpha()
    assert verb.isalpha()
