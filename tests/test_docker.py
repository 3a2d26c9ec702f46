"""The files in docker/ that others' tools read: right by what those tools say."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import ray
import yaml
from ray.autoscaler._private import util

DOCKER = Path(__file__).resolve().parents[1] / "docker"


def _read(name: str) -> Any:
    return yaml.safe_load((DOCKER / name).read_text())


def test_rays_launcher_takes_its_file() -> None:
    config = util.prepare_config(_read("ray-cluster.yaml"))
    util.validate_config(config)
    with pytest.raises(Exception, match="not_a_key"):
        util.validate_config({**config, "not_a_key": 1})
    assert config["max_workers"] == len(config["provider"]["worker_ips"])


def test_the_job_on_kubernetes_is_of_the_ray_that_is_installed() -> None:
    job = _read("kuberay.yaml")
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert job["spec"]["rayClusterSpec"]["rayVersion"].rsplit(".", 1)[0] == ray.__version__.rsplit(".", 1)[0]


def test_commands_in_these_files_are_right() -> None:
    """Every render-batch line in there has options that exist."""
    from diorama.render.cli.batch import main

    known = {name for option in main.params for name in option.opts}
    compose = _read("compose.yaml")
    assert {"cpu", "gpu", "doctor"} <= set(compose["services"])
    for name in ("kuberay.yaml", "compose.yaml"):
        text = (DOCKER / name).read_text().replace("\n", " ")
        found = re.findall(r"render-batch (.*?)(?:#|$)", text)
        used = {word for line in found for word in re.findall(r"--[a-z][a-z-]+", line.split("spec:")[0])}
        assert name != "kuberay.yaml" or used, "the job gives no options: the test tests nothing"
        assert used <= known | {"--device", "--warm"}, f"{name}: {used - known}"


@pytest.mark.parametrize("script", sorted(DOCKER.glob("*.sbatch")), ids=lambda script: script.name)
def test_a_script_of_slurm_is_valid_and_so_are_its_options(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from diorama.render.cli.batch import main

    subprocess.run(["bash", "-n", script], check=True)
    assert f"docker/{script.name}" in (DOCKER.parent / "docs" / "slurm.md").read_text()
    for name in ("MIN", "MAX", "COUNT", "ID"):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", "1")
    (call,) = re.findall(r"^render-batch (.*) &$", script.read_text(), re.MULTILINE)
    specs = str(DOCKER.parent / "scene_specs" / "examples")
    words = [specs if word == "$specs" else word for word in shlex.split(call) if word != "$@"]
    assert main.make_context("render-batch", list(words)).params["store"]
    with pytest.raises(click.NoSuchOption):
        main.make_context("render-batch", [*words, "--no-such-option"])


def test_any_user_may_run_the_image() -> None:
    """A user id without a passwd entry has no home folder, and Ray writes there."""
    assert re.search(r"^    HOME=/tmp \\$", (DOCKER / "Dockerfile").read_text(), re.MULTILINE)
    for name, service in _read("compose.yaml")["services"].items():
        assert service["user"] == "${DIORAMA_USER:-1000:1000}", name


def test_containers_run_without_privileges() -> None:
    for name, service in _read("compose.yaml")["services"].items():
        assert service["cap_drop"] == ["ALL"] and service["read_only"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert any(mount.startswith("/tmp") for mount in service["tmpfs"]), name
    cluster = _read("kuberay.yaml")["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        for container in group["template"]["spec"]["containers"]:
            security = container["securityContext"]
            assert security["runAsNonRoot"] and security["runAsUser"] == 1000
            assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
            assert security["capabilities"] == {"drop": ["ALL"]}
            assert "/tmp" in {mount["mountPath"] for mount in container["volumeMounts"]}


def test_every_package_of_the_image_is_checked_against_a_hash() -> None:
    """And the image says which licenses it is under, in a file that is in the build's context."""
    text = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    installs = [line for line in text.splitlines() if "pip install" in line and "--no-deps" not in line]
    assert len(installs) == 2
    for line in installs:
        (lock,) = re.findall(r"--require-hashes +-r (?:/tmp/)?(\S+)", line)
        assert re.search(rf"^!(tools/locks/)?{lock}$", (DOCKER / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert (
        "docker/LICENSES.txt" in text and "\n!docker/LICENSES.txt\n" in (DOCKER / "Dockerfile.dockerignore").read_text()
    )
    assert "GPL-3.0" in (DOCKER / "LICENSES.txt").read_text()


def test_the_locks_of_the_image_agree() -> None:
    pins = [
        dict(re.findall(r"^([a-z0-9-]+)[a-z\[\]]*==(\S+)", (DOCKER.parent / name).read_text(), re.MULTILINE))
        for name in ("requirements.lock", "tools/locks/cluster.lock")
    ]
    shared = set(pins[0]) & set(pins[1])
    assert "ray" in shared
    assert {name: pins[0][name] for name in shared} == {name: pins[1][name] for name in shared}
