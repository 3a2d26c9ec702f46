"""The files in docker/ that others' tools read: right by what those tools say, as far as they are installed here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCKER = Path(__file__).resolve().parents[1] / "docker"
yaml = pytest.importorskip("yaml")


def _read(name: str) -> Any:
    return yaml.safe_load((DOCKER / name).read_text())


def test_rays_launcher_takes_its_file() -> None:
    util = pytest.importorskip("ray.autoscaler._private.util")
    config = util.prepare_config(_read("ray-cluster.yaml"))
    util.validate_config(config)
    with pytest.raises(Exception, match="not_a_key"):
        util.validate_config({**config, "not_a_key": 1})
    assert config["max_workers"] == len(config["provider"]["worker_ips"])


def test_the_job_on_kubernetes_is_of_the_ray_that_is_installed() -> None:
    ray = pytest.importorskip("ray")
    job = _read("kuberay.yaml")
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert job["spec"]["rayClusterSpec"]["rayVersion"].rsplit(".", 1)[0] == ray.__version__.rsplit(".", 1)[0]


def test_commands_in_these_files_are_right() -> None:
    """Every render-batch line in there has options that exist."""
    from render.cli.batch import main

    known = {name for option in main.params for name in option.opts}
    compose = _read("compose.yaml")
    assert {"cpu", "gpu", "doctor"} <= set(compose["services"])
    for name in ("kuberay.yaml", "compose.yaml"):
        text = (DOCKER / name).read_text().replace("\n", " ")
        found = re.findall(r"render-batch (.*?)(?:#|$)", text)
        used = {word for line in found for word in re.findall(r"--[a-z][a-z-]+", line.split("spec:")[0])}
        assert name != "kuberay.yaml" or used, "the job gives no options: the test tests nothing"
        assert used <= known | {"--device", "--warm"}, f"{name}: {used - known}"
