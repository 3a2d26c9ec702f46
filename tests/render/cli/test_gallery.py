from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.gallery import main
from diorama.render.store.lance.lance_store import LanceStore
from tests.render.store.rendered import rendered
from tests.render.uses.gallery.stores import odd_store


@pytest.fixture
def store(tmp_path: Path) -> str:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([rendered("demo/0"), rendered("demo/1", seed=4, split="val")])
    return made.url


def call(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result


def test_it_says_what_was_made(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = str(tmp_path / "g")
    assert f"{out}/index.html: 2 episodes (2 new, 0 kept, 0 removed)" in call(store, "--out", out).output
    monkeypatch.setenv("DIORAMA_STORE", store)
    report = json.loads(call("--out", out, "--split", "val", "--json").stdout)
    assert (report["episodes"], report["kept"], report["removed"]) == (1, 1, 1)
    assert Path(report["page"]).is_file()


def test_older_versions_say_how_to_get_them(store: str, tmp_path: Path) -> None:
    LanceStore.open(store).tag("v1")
    LanceStore.open(store).delete(["demo/1"])
    out = tmp_path / "g"
    assert "2 episodes" in call(store, "--out", str(out), "--at", "v1").output
    (head,) = out.glob("data/*/gallery.js")
    assert '"at":"v1"' in head.read_text()


def test_wrong_options_write_nothing(store: str, tmp_path: Path) -> None:
    out = tmp_path / "g"
    assert "there is no store" in call(str(tmp_path / "no.lance"), "--out", str(out), code=4).output
    assert "--port is for --serve" in call(store, "--out", str(out), "--port", "80", code=2).output
    assert "No field named nix" in call(store, "--out", str(out), "--where", "nix = 1", code=2).output
    assert "Missing option" in call(store, code=2).output
    assert "holds something else" in call(store, "--out", str(tmp_path), code=2).output
    assert not out.exists()


def test_damaged_episodes_end_with_4_and_a_gallery(tmp_path: Path) -> None:
    url = odd_store(tmp_path / "odd.lance", many=0).url
    result = call(url, "--out", str(tmp_path / "g"), code=4)
    assert "5 episodes (4 new" in result.output
    assert "episode demo/damaged: its images don't match their SHA-256" in result.output
    assert (tmp_path / "g/index.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_is_served_until_ctrl_c(store: str, tmp_path: Path, number: signal.Signals) -> None:
    program = [sys.executable, "-c", "from diorama.render.cli.gallery import main; main()"]
    command = [*program, store, "--out", str(tmp_path / "g"), "--serve", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert json.loads(child.stdout.readline())["episodes"] == 2
            address = json.loads(child.stdout.readline())["url"]
            with urllib.request.urlopen(address, timeout=240) as answer:
                assert b"<title>s.lance</title>" in answer.read()
            child.send_signal(number)
            assert child.wait(timeout=240) == 0
        finally:
            child.kill()


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from diorama.render.cli.gallery import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "print('HEAVY', sorted({'lance', 'pyarrow', 'numpy', 'pydantic', 'PIL'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--serve" in done.stdout
    assert done.stdout.splitlines()[-1] == "HEAVY []"
