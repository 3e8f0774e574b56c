"""The checks of the manifests refuse what Kubernetes would refuse, or misread."""

import kubernetes_validate
import pytest

from tests.unit.deploy.manifests import quantity, selects


@pytest.mark.parametrize(
    ("text", "number"), [("2", 2), ("100m", 0.1), ("1Gi", 2**30), ("1.5M", 1.5e6), (1, 1)]
)
def test_quantities_are_read(text: object, number: float) -> None:
    assert quantity(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["1GB", "1 Gi", "-1", "", "Gi", "1gi"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no quantity"):
        quantity(text)


def test_selectors_take_labels_by_value_and_by_expression() -> None:
    labels = {"name": "ingest", "component": "rpc"}
    assert selects({}, labels)
    assert selects({"matchLabels": {"name": "ingest"}}, labels)
    assert not selects({"matchLabels": {"name": "sync"}}, labels)
    only = {"key": "name", "operator": "In", "values": ["ingest", "sync"]}
    assert selects({"matchExpressions": [only]}, labels)
    assert not selects({"matchExpressions": [{**only, "operator": "NotIn"}]}, labels)


def test_a_misspelt_field_is_refused() -> None:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "a"},
        "automountToken": False,
    }
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(account, "1.31", strict=True)
