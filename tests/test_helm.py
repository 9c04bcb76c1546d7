"""The chart of deploy/helm renders to what the settings accept, and scales by a metric that exists."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from docrail.cli.main import leaves
from docrail.services.fleet.models import Fleet
from docrail.services.totals.gauges import Gauges
from docrail.settings import Settings

helm = pytest.importorskip("helm_python", reason="Helm's library exists for Linux on x86-64 only")
ROOT = Path(__file__).parent.parent
CHART = ROOT / "deploy" / "helm" / "docrail"
BUCKET = {"store": {"location": "s3://bucket/docrail"}}
SECRETS = {"callback_key": "3f0c9a7be1d24f58a6b0c7d9e2f41835", "payload_keys": "1:" + "A" * 43 + "="}
"""What the Secret holds, which is not of the chart."""


def rendered(**values: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the objects of a release named docrail, by kind and name."""
    files = helm.Chart.load(CHART).render(BUCKET | values, name="docrail", namespace="invoices")
    objects = [each for text in files.values() for each in yaml.safe_load_all(text) if each]
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def pods() -> dict[str, dict[str, Any]]:
    objects = rendered()
    of_kind = {"api": "Deployment", "worker": "Deployment", "migrate": "Job"}
    return {name: objects[kind, f"docrail-{name}"]["spec"]["template"]["spec"] for name, kind in of_kind.items()}


def settings_of(pod: dict[str, Any]) -> Settings:
    """Return what the processes read. A name that is not a setting is refused."""
    (container,) = pod["containers"]
    names = [each["name"] for each in container["env"]]
    assert len(names) == len(set(names))
    given = {each["name"].removeprefix("DOCRAIL_").lower(): each["value"] for each in container["env"]}
    return Settings.model_validate(given | SECRETS)


def test_helm_finds_no_mistake() -> None:
    from helm_python.chart import lint

    report = lint(CHART, BUCKET)
    assert report["errors"] == []
    assert [each["error"] for each in report["messages"] if each["severity"] > 1] == []


def test_every_variable_is_a_setting_and_fit_for_production() -> None:
    for pod in pods().values():
        settings = settings_of(pod)
        assert (settings.profile, settings.access, settings.store) == ("prod", "keys", "s3://bucket/docrail")
        assert pod["enableServiceLinks"] is False, "DOCRAIL_API_PORT would be an address"


def test_only_migrations_log_in_as_the_owner() -> None:
    users = {name: re.findall(r"//(\w+)@", settings_of(pod).database_url) for name, pod in pods().items()}
    assert users == {"api": ["docrail_service"], "worker": ["docrail_service"], "migrate": ["docrail_owner"]}
    secrets = {
        name: [each["secretRef"]["name"] for each in pod["containers"][0]["envFrom"]] for name, pod in pods().items()
    }
    assert secrets == {"api": ["docrail"], "worker": ["docrail"], "migrate": ["docrail", "docrail-owner"]}


def test_pods_run_the_commands_that_exist_as_the_images_user() -> None:
    commands = {" ".join(pod["containers"][0]["args"]) for pod in pods().values()}
    assert commands == {"server migrate", "server start", "worker start"}
    assert commands <= {words for words, _ in leaves()}
    dockerfile = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    assert {f"--uid {pod['securityContext']['runAsUser']} " in dockerfile for pod in pods().values()} == {True}


def test_a_worker_is_not_killed_while_it_drains() -> None:
    objects = rendered(worker={"drainSeconds": 90})
    pod = objects["Deployment", "docrail-worker"]["spec"]["template"]["spec"]
    assert settings_of(pod).graceful_shutdown_seconds == 90
    assert pod["terminationGracePeriodSeconds"] > 90


def test_probes_ask_the_pages_of_the_settings() -> None:
    for name, port in (("api", "api_port"), ("worker", "worker_metrics_port")):
        pod = pods()[name]
        (container,) = pod["containers"]
        (listening,) = container["ports"]
        assert listening["containerPort"] == getattr(settings_of(pod), port)
        probes = [container[probe]["httpGet"] for probe in ("livenessProbe", "readinessProbe")]
        assert {probe["port"] for probe in probes} == {listening["name"]}
        assert {probe["path"] for probe in probes} <= {"/healthz", "/readyz", "/metrics"}


def test_the_api_is_called_by_its_services_and_its_public_name() -> None:
    hosts = settings_of(pods()["api"]).own_hosts
    assert all(map(hosts.accepts, ("docrail-api", "docrail-api.invoices", "docrail.example", "10.1.2.3")))
    service = rendered()["Service", "docrail-api"]["spec"]
    labels = rendered()["Deployment", "docrail-api"]["spec"]["template"]["metadata"]["labels"]
    assert service["selector"].items() <= labels.items()


def reached_by(**values: Any) -> list[dict[str, Any]]:
    """Return what the workers' network policy lets in, after checking that it is about all workers."""
    objects = rendered(**values)
    policy = objects["NetworkPolicy", "docrail-worker"]["spec"]
    pod = objects["Deployment", "docrail-worker"]["spec"]["template"]
    assert policy["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert policy["policyTypes"] == ["Ingress"]
    allowed: list[dict[str, Any]] = policy["ingress"]
    assert all(rule["from"] and rule["ports"] for rule in allowed), "an empty list lets everyone in"
    assert {port["port"] for rule in allowed for port in rule["ports"]} <= {
        port["name"] for port in pod["spec"]["containers"][0]["ports"]
    }
    return [peer for rule in allowed for peer in rule["from"]]


def test_only_prometheus_reaches_the_metrics_of_workers() -> None:
    assert reached_by() == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    own = {"podSelector": {"matchLabels": {"app": "prometheus"}}}
    assert reached_by(worker={"metricsFrom": [own]}) == [own]
    assert reached_by(worker={"metricsFrom": []}) == []
    with pytest.raises(helm.HelmError, match="metricsFrom"):
        rendered(worker={"metricsFrom": [{}]})


def test_outside_of_a_container_a_worker_shows_its_metrics_to_this_machine_only() -> None:
    assert Settings().worker_metrics_host == "127.0.0.1"


def test_workers_scale_on_the_backlog_that_the_metrics_show() -> None:
    assert rendered()["Deployment", "docrail-worker"]["spec"]["replicas"] == 2
    objects = rendered(autoscaling={"enabled": True, "maxReplicas": 7})
    assert "replicas" not in objects["Deployment", "docrail-worker"]["spec"]
    scaled = objects["ScaledObject", "docrail-worker"]["spec"]
    assert (scaled["scaleTargetRef"]["name"], scaled["maxReplicaCount"]) == ("docrail-worker", 7)
    (trigger,) = scaled["triggers"]
    (metric,) = re.findall(r"docrail_\w+", trigger["metadata"]["query"])
    shown = Gauges(Fleet([], []), None, None, None, None, None, None).collect()
    assert metric in {family.name for family in shown}


def test_a_release_needs_a_store_that_all_pods_share() -> None:
    with pytest.raises(helm.HelmError, match=r"set store\.location \(s3://bucket/prefix\), or store\.existingClaim"):
        helm.Chart.load(CHART).render({})
    pod = rendered(store={"location": "", "existingClaim": "documents"})["Deployment", "docrail-worker"]["spec"]
    assert pod["template"]["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "documents"}}]


def test_a_value_that_cannot_be_is_refused() -> None:
    with pytest.raises(helm.HelmError, match="waitingPerWorker"):
        rendered(autoscaling={"waitingPerWorker": 0})


SECRET_SETTINGS = sorted(name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation))


def test_the_secrets_of_the_settings_are_known() -> None:
    assert len(SECRET_SETTINGS) >= 6


@pytest.mark.parametrize("name", SECRET_SETTINGS)
def test_a_secret_among_the_settings_is_refused(name: str) -> None:
    """The chart would write it into the pods, where everyone reads it who may list them."""
    with pytest.raises(helm.HelmError, match=name):
        rendered(settings={name: "3f0c9a7be1d24f58a6b0c7d9e2f41835"})


@pytest.mark.parametrize(
    "values",
    [
        {"settings": {"database_url": "postgresql://docrail:hunter2@postgres/docrail"}},
        {"migrate": {"databaseUrl": "postgresql://owner:hunter2@postgres/docrail"}},
    ],
)
def test_an_address_with_a_password_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(helm.HelmError, match=r"database_?[uU]rl"):
        rendered(**values)


def test_pods_fit_kubernetes_restricted_profile() -> None:
    for pod in pods().values():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
