"""The manifests render, are valid to the letter, and agree with the code that they run."""

import importlib
import re
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from services.shared.auth import SERVICES, load_issuers
from services.shared.bootstrap import SERVICES as DATABASE_SERVICES
from services.shared.identity import service_audience
from services.shared.settings import ServiceSettings
from tests.unit.deploy.manifests import (
    REPOSITORY,
    Manifest,
    Manifests,
    Workload,
    calls,
    has_kubectl,
    quantity,
    render,
    selects,
)

KUBERNETES = "1.31"
PREFIX = "ACERVO_"
JOB_VARIABLES = {f"{PREFIX}DATABASE_URL_{name.upper()}" for name in DATABASE_SERVICES}

pytestmark = pytest.mark.skipif(
    not has_kubectl(), reason="kubectl is not installed: nothing renders the manifests"
)


@pytest.fixture(scope="module", params=["base", "overlays/example"])
def rendered(request: pytest.FixtureRequest) -> Manifests:
    return Manifests(request.param, render(request.param))


def settings_class(service: str) -> type[ServiceSettings]:
    module = importlib.import_module(f"services.{service}.settings")
    (found,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "model_fields")
    ]
    return found


def variables_of(service: str) -> set[str]:
    fields: dict[str, Any] = settings_class(service).model_fields
    return {f"{PREFIX}{name.upper()}" for name in fields}


def test_every_manifest_is_valid_to_the_letter(rendered: Manifests) -> None:
    for manifest in rendered.manifests:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_every_kind_is_one_that_the_schemas_know(rendered: Manifests) -> None:
    known = {
        "ConfigMap",
        "Deployment",
        "Job",
        "Namespace",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "Service",
        "ServiceAccount",
    }
    assert {manifest["kind"] for manifest in rendered.manifests} <= known


def test_nothing_is_named_twice(rendered: Manifests) -> None:
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in rendered.manifests]
    assert len(names) == len(set(names))


def test_every_service_runs_from_one_pinned_image_of_this_version(rendered: Manifests) -> None:
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    images = {workload.container["image"] for workload in rendered.workloads()}
    assert len(images) == 1
    assert images.pop().rpartition(":")[2] == version
    assert {workload.service for workload in rendered.workloads("Deployment")} == SERVICES


def test_every_process_is_a_module_that_exists(rendered: Manifests) -> None:
    for workload in rendered.workloads():
        (module,) = workload.container["args"]
        path = REPOSITORY / module.replace(".", "/")
        assert (path / "__main__.py").is_file() or path.with_suffix(".py").is_file(), module


def test_every_pod_is_as_confined_as_it_can_be(rendered: Manifests) -> None:
    for workload in rendered.workloads():
        pod = workload.pod
        assert pod["automountServiceAccountToken"] is False, workload.name
        assert pod["securityContext"]["runAsNonRoot"] is True, workload.name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, workload.name
        assert workload.container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, workload.name
        assert "hostPath" not in str(pod), workload.name


def test_resources_are_quantities_and_no_request_exceeds_its_limit(rendered: Manifests) -> None:
    for workload in rendered.workloads():
        resources = workload.container["resources"]
        requests = {name: quantity(value) for name, value in resources["requests"].items()}
        limits = {name: quantity(value) for name, value in resources["limits"].items()}
        assert set(requests) == {"cpu", "memory"}, workload.name
        assert set(limits) == {"memory"}, workload.name
        assert requests["memory"] <= limits["memory"], workload.name


def test_a_worker_has_memory_for_all_its_parsers(rendered: Manifests) -> None:
    (worker,) = [workload for workload in rendered.workloads() if workload.name == "ingest-worker"]
    told = {
        name: int(variable["value"])
        for name, variable in worker.variables.items()
        if name.startswith("ACERVO_PARSE")
    }
    parsers = told["ACERVO_PARSER_SLOTS"] * told["ACERVO_PARSE_MEMORY_MIB"] * 1024 * 1024
    assert quantity(worker.container["resources"]["limits"]["memory"]) >= 1.5 * parsers


def test_selectors_match_the_pods_that_they_are_for(rendered: Manifests) -> None:
    deployments = rendered.workloads("Deployment")
    for deployment in deployments:
        taken = [
            other.name
            for other in deployments
            if selects(deployment.manifest["spec"]["selector"], other.labels)
        ]
        assert taken == [deployment.name]
    for budget in rendered.of_kind("PodDisruptionBudget"):
        taken = [other.name for other in deployments if selects(budget["spec"]["selector"], other.labels)]
        assert taken == [budget["metadata"]["name"]]
        assert budget["spec"]["maxUnavailable"] == 1
    assert {budget["metadata"]["name"] for budget in rendered.of_kind("PodDisruptionBudget")} == {
        deployment.name for deployment in deployments
    }


def test_every_service_leads_to_one_deployment_and_a_port_that_it_opens(rendered: Manifests) -> None:
    deployments = rendered.workloads("Deployment")
    services = list(rendered.of_kind("Service"))
    assert {service["metadata"]["name"] for service in services} == SERVICES
    for service in services:
        selector = {"matchLabels": service["spec"]["selector"]}
        (deployment,) = [one for one in deployments if selects(selector, one.labels)]
        assert deployment.service == service["metadata"]["name"]
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= set(deployment.ports)


def test_probes_ask_ports_that_are_open(rendered: Manifests) -> None:
    for deployment in rendered.workloads("Deployment"):
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = deployment.container[name]
            asked = [probe[way]["port"] for way in ("grpc", "httpGet", "tcpSocket") if way in probe]
            assert len(asked) == 1
            assert asked[0] in {*deployment.ports, *deployment.ports.values()}, deployment.name
            if "httpGet" in probe:
                routes = (REPOSITORY / "services" / deployment.service / "routes.py").read_text("utf-8")
                assert f'Route("{probe["httpGet"]["path"]}"' in routes


def test_a_probe_waits_for_a_busy_process(rendered: Manifests) -> None:
    for deployment in rendered.workloads("Deployment"):
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert deployment.container[name]["timeoutSeconds"] >= 5, (deployment.name, name)


def test_every_process_reads_the_issuers_and_reaches_their_keys(rendered: Manifests) -> None:
    (https,) = [one for one in rendered.of_kind("NetworkPolicy") if one["metadata"]["name"] == "to-https"]
    path = rendered.settings()["ACERVO_ISSUERS"]
    for deployment in rendered.workloads("Deployment"):
        mounts = {mount["name"]: mount["mountPath"] for mount in deployment.container["volumeMounts"]}
        assert f"{mounts['issuers']}/issuers.json" == path, deployment.name
        assert selects(https["spec"]["podSelector"], deployment.labels), deployment.name


def test_a_pod_has_time_to_drain(rendered: Manifests) -> None:
    drain = ServiceSettings.model_fields["drain_seconds"].default
    for deployment in rendered.workloads("Deployment"):
        assert deployment.pod["terminationGracePeriodSeconds"] > 2 * drain


def test_addresses_name_services_and_their_ports(rendered: Manifests) -> None:
    ports = {
        service["metadata"]["name"]: service["spec"]["ports"][0]["port"]
        for service in rendered.of_kind("Service")
    }
    settings = rendered.settings()
    for name in SERVICES - {"gateway"}:
        assert settings[f"ACERVO_{name.upper()}_ADDRESS"] == f"{name}:{ports[name]}"
    listened = int(settings["ACERVO_LISTEN"].rpartition(":")[2])
    assert {port for one in rendered.workloads("Deployment") for port in one.ports.values()} == {listened}


def test_what_a_service_is_told_are_settings_of_it(rendered: Manifests) -> None:
    shared = {f"{PREFIX}{name.upper()}" for name in ServiceSettings.model_fields}
    assert set(rendered.settings()) <= shared
    for deployment in rendered.workloads("Deployment"):
        assert set(deployment.variables) <= variables_of(deployment.service), deployment.name


def test_every_setting_without_a_default_is_given(rendered: Manifests) -> None:
    told_to_all = set(rendered.settings())
    for deployment in rendered.workloads("Deployment"):
        fields = settings_class(deployment.service).model_fields
        needed = {f"{PREFIX}{name.upper()}" for name, field in fields.items() if field.is_required()}
        assert needed <= told_to_all | set(deployment.variables), deployment.name


def test_jobs_are_told_what_their_modules_read(rendered: Manifests) -> None:
    for job in rendered.workloads("Job"):
        assert set(job.variables) >= JOB_VARIABLES
        module = (
            (REPOSITORY / job.container["args"][0].replace(".", "/")).with_suffix(".py").read_text("utf-8")
        )
        assert all(name in module for name in set(job.variables) - JOB_VARIABLES)


def test_each_service_has_tokens_for_the_services_that_its_code_calls_and_no_others(
    rendered: Manifests,
) -> None:
    called = calls()
    known = {service_audience(name) for name in SERVICES}
    for deployment in rendered.workloads("Deployment"):
        audiences = deployment.audiences()
        assert audiences <= known, deployment.name
        if deployment.service != "gateway":
            assert audiences == {service_audience(name) for name in called[deployment.service]}, (
                deployment.name
            )


def test_tokens_are_files_where_the_service_looks_for_them(rendered: Manifests) -> None:
    for deployment in rendered.workloads("Deployment"):
        mounts = {mount["name"]: mount["mountPath"] for mount in deployment.container["volumeMounts"]}
        for volume in deployment.pod["volumes"]:
            if volume["name"] != "tokens":
                continue
            assert mounts["tokens"] == rendered.settings()["ACERVO_SERVICE_TOKENS"]
            tokens = [source["serviceAccountToken"] for source in volume["projected"]["sources"]]
            assert all(token["path"] == token["audience"] for token in tokens)


def test_every_volume_is_mounted_and_every_mount_has_its_volume(rendered: Manifests) -> None:
    for workload in rendered.workloads():
        volumes = {volume["name"] for volume in workload.pod.get("volumes", [])}
        assert volumes == {mount["name"] for mount in workload.container["volumeMounts"]}, workload.name


def test_a_service_is_known_by_its_own_account(rendered: Manifests) -> None:
    accounts = {account["metadata"]["name"]: account for account in rendered.of_kind("ServiceAccount")}
    assert set(accounts) == SERVICES
    assert all(account["automountServiceAccountToken"] is False for account in accounts.values())
    for deployment in rendered.workloads("Deployment"):
        assert deployment.pod["serviceAccountName"] == deployment.service


def test_issuers_are_ones_that_the_code_can_load(rendered: Manifests, tmp_path: Path) -> None:
    path = tmp_path / "issuers.json"
    path.write_text(rendered.config("acervo-issuers")["issuers.json"])
    issuers = load_issuers(path)
    namespaces = {
        manifest["metadata"].get("namespace", "acervo") for manifest in rendered.of_kind("Deployment")
    }
    prefixes = {issuer.subject_prefix for issuer in issuers if issuer.subject_prefix}
    assert prefixes == {f"system:serviceaccount:{namespace}:" for namespace in namespaces}


def test_secrets_are_named_and_never_written_down(rendered: Manifests) -> None:
    assert not list(rendered.of_kind("Secret"))
    told = [*rendered.settings().values()]
    for workload in rendered.workloads():
        for name, variable in workload.variables.items():
            if re.search("URL|PASSWORD|SECRET|KEY", name) and not name.endswith("_FILE"):
                assert set(variable["valueFrom"]) == {"secretKeyRef"}, (workload.name, name)
            told.append(str(variable.get("value", "")))
    assert not [value for value in told if re.search(r"://[^/]*@", value)]


def test_each_service_reads_its_own_secrets_alone(rendered: Manifests) -> None:
    for deployment in rendered.workloads("Deployment"):
        keys = {
            variable["valueFrom"]["secretKeyRef"]["key"]
            for variable in deployment.variables.values()
            if "secretKeyRef" in variable.get("valueFrom", {})
        }
        assert keys <= {deployment.service}, deployment.name


def test_policies_let_through_just_the_calls_that_the_code_makes(rendered: Manifests) -> None:
    deployments = {one.service: one for one in rendered.workloads("Deployment")}
    policies = list(rendered.of_kind("NetworkPolicy"))
    called = calls()
    for caller, callee in ((a, b) for a in SERVICES for b in SERVICES if a != b):
        open_ = _lets_through(policies, deployments[caller], deployments[callee])
        if caller != "gateway":
            assert open_ == (callee in called[caller]), (caller, callee)
        else:
            assert open_, callee


def test_whatever_no_policy_names_is_denied(rendered: Manifests) -> None:
    (deny,) = [one for one in rendered.of_kind("NetworkPolicy") if one["metadata"]["name"] == "deny-all"]
    assert deny["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_stores_are_reached_by_those_who_keep_rows(rendered: Manifests) -> None:
    (stores,) = [one for one in rendered.of_kind("NetworkPolicy") if one["metadata"]["name"] == "to-stores"]
    reached = {one.name for one in rendered.workloads() if selects(stores["spec"]["podSelector"], one.labels)}
    assert reached == {one.name for one in rendered.workloads()} - {"gateway"}


def _lets_through(policies: list[Manifest], caller: Workload, callee: Workload) -> bool:
    out = any(_rule(policy, "egress", "to", at=caller, towards=callee) for policy in policies)
    into = any(_rule(policy, "ingress", "from", at=callee, towards=caller) for policy in policies)
    assert out == into, (caller.name, callee.name)
    return out


def _rule(policy: Manifest, direction: str, side: str, *, at: Workload, towards: Workload) -> bool:
    """Whether a policy on `at` names the pods of `towards`, at a port that is open."""
    if not selects(policy["spec"]["podSelector"], at.labels):
        return False
    open_ports = {*at.ports.values(), *towards.ports.values()}
    return any(
        "podSelector" in peer
        and selects(peer["podSelector"], towards.labels)
        and {port["port"] for port in rule["ports"]} <= open_ports
        for rule in policy["spec"].get(direction, [])
        for peer in rule.get(side, [])
    )
