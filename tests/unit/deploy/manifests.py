"""Rendered manifests, and what the checks ask of them."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
KUSTOMIZE = REPOSITORY / "deploy" / "k8s"

Manifest = dict[str, Any]

_QUANTITY = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>m|k|M|G|T|Ki|Mi|Gi|Ti)?")
_DECIMAL = {unit: 1000.0**power for power, unit in enumerate("kMGT", start=1)}
_BINARY = {f"{unit}i": 1024.0**power for power, unit in enumerate("KMGT", start=1)}
_UNITS: dict[str, float] = {"": 1.0, "m": 1e-3, **_DECIMAL, **_BINARY}


def has_kubectl() -> bool:
    return shutil.which("kubectl") is not None


def render(folder: str) -> list[Manifest]:
    """What `kubectl kustomize` makes of a folder, offline."""
    done = subprocess.run(
        ("kubectl", "kustomize", str(KUSTOMIZE / folder)), check=True, capture_output=True, text=True
    )
    return list(yaml.safe_load_all(done.stdout))


def quantity(value: object) -> float:
    """A Kubernetes quantity as a number. Raises ValueError."""
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{value} is no quantity")
    return float(match["number"]) * _UNITS[match["unit"] or ""]


@dataclass(frozen=True)
class Workload:
    """A Deployment or Job."""

    manifest: Manifest

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def template(self) -> Manifest:
        template: Manifest = self.manifest["spec"]["template"]
        return template

    @property
    def labels(self) -> dict[str, str]:
        labels: dict[str, str] = self.template["metadata"]["labels"]
        return labels

    @property
    def service(self) -> str:
        """The service of which this is a process."""
        return self.labels["app.kubernetes.io/name"]

    @property
    def pod(self) -> Manifest:
        pod: Manifest = self.template["spec"]
        return pod

    @property
    def container(self) -> Manifest:
        (container,) = self.pod["containers"]
        return dict(container)

    @property
    def ports(self) -> dict[str, int]:
        return {port["name"]: port["containerPort"] for port in self.container.get("ports", [])}

    @property
    def variables(self) -> dict[str, Manifest]:
        return {variable["name"]: variable for variable in self.container.get("env", [])}

    def audiences(self) -> set[str]:
        """The audiences of the tokens that are projected beside the cluster's own."""
        return {
            source["serviceAccountToken"]["audience"]
            for volume in self.pod.get("volumes", [])
            for source in volume.get("projected", {}).get("sources", [])
            if "audience" in source.get("serviceAccountToken", {})
        }


@dataclass(frozen=True)
class Manifests:
    """All of one rendering."""

    folder: str
    manifests: list[Manifest]

    def of_kind(self, *kinds: str) -> Iterator[Manifest]:
        return (manifest for manifest in self.manifests if manifest["kind"] in kinds)

    def workloads(self, *kinds: str) -> list[Workload]:
        return [Workload(manifest) for manifest in self.of_kind(*(kinds or ("Deployment", "Job")))]

    def settings(self) -> dict[str, str]:
        """What every service is told."""
        (found,) = [
            one for one in self.of_kind("ConfigMap") if one["metadata"]["name"].startswith("acervo-settings")
        ]
        data: dict[str, str] = found["data"]
        return data

    def config(self, prefix: str) -> dict[str, str]:
        (found,) = [one for one in self.of_kind("ConfigMap") if one["metadata"]["name"].startswith(prefix)]
        data: dict[str, str] = found["data"]
        return data


def selects(selector: Manifest, labels: dict[str, str]) -> bool:
    """Whether a label selector takes these labels."""
    wanted: dict[str, str] = selector.get("matchLabels", {})
    return wanted.items() <= labels.items() and all(
        (labels.get(rule["key"]) in rule["values"]) == (rule["operator"] == "In")
        for rule in selector.get("matchExpressions", [])
    )


def calls() -> dict[str, set[str]]:
    """Which services each service's code calls: itself, or by asking access through what is shared."""
    pattern = re.compile(r'\.(?:own|forward)\("(\w+)"')
    asks_access = re.compile(r"^from services\.shared\.reach import .*\bresolve\b", re.MULTILINE)
    folders = [
        folder
        for folder in (REPOSITORY / "services").iterdir()
        if folder.is_dir() and folder.name != "shared"
    ]
    code = {folder.name: [path.read_text("utf-8") for path in folder.rglob("*.py")] for folder in folders}
    return {
        service: {name for text in texts for name in pattern.findall(text)}
        | {"access" for text in texts if asks_access.search(text)}
        for service, texts in code.items()
    }
