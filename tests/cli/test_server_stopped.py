"""A real server process, killed in the middle of a submission and started again: nothing is lost, nothing twice."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from v2kb.cli import writes
from v2kb.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PREPARE = """
from knox.models import AuthToken
from tests import factories as f
from v2kb.rules.spec_markdown.writing import write_markdown
f.op()
open("spec.md", "w").write(write_markdown(f.spec_content(f.evidence_row())))
print(AuthToken.objects.create(user=f.designer().user)[1])
"""
COUNT = """
from evidence.models import ExperimentEntry
from kernels.models import Spec, SpecRevision, Submission
print([model.objects.count() for model in (Spec, SpecRevision, Submission, ExperimentEntry)])
"""


class Process:
    """`gunicorn` over a database of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.folder, self.running = folder, None
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("V2KB_", "DJANGO_"))},
            "V2KB_DATA_DIR": str(folder / "data"),
            "V2KB_BASE_URL": self.url,
            "V2KB_LOG_LEVEL": "ERROR",
            "PYTHONPATH": str(ROOT),
        }

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, ROOT / "manage.py", *arguments],
            env=self.env,
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self) -> None:
        command = [sys.executable, "-m", "gunicorn", "v2kb.wsgi", "--bind", f"127.0.0.1:{self.port}", "--threads", "4"]
        self.running = subprocess.Popen(
            [*command, "--log-level", "error"], env=self.env, cwd=ROOT, start_new_session=True
        )
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/api/v1/me/", timeout=5)
            except urllib.error.HTTPError:
                return
            except OSError:
                assert self.running.poll() is None, "the server did not start"
                time.sleep(0.1)
        raise AssertionError("the server did not answer")

    def kill(self) -> None:
        if self.running is not None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()
            self.running = None


@pytest.fixture
def server(tmp_path):
    (tmp_path / "data").mkdir()
    made = Process(tmp_path)
    made.manage("migrate", "--noinput", "-v", "0")
    made.manage("createcachetable")
    yield made
    made.kill()


def test_a_server_that_is_killed_in_the_middle(server, tmp_path, monkeypatch, capsys):
    for name in ("V2KB_DIR", "V2KB_SERVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("V2KB_TOKEN", server.manage("shell", "-v", "0", "-c", PREPARE).strip())
    monkeypatch.chdir(tmp_path)
    server.start()
    assert main(["init", "--server", server.url]) == 0
    assert main(["sync"]) == 0

    link, killed = writes.link_spec, []

    def kill_then_link(*said: object) -> None:
        if not killed:
            killed.append(server.kill())
        link(*said)

    monkeypatch.setattr(writes, "link_spec", kill_then_link)
    submit = ["submit", "spec.md", "--op", "rmsnorm-cpu", "--no-receipts"]
    assert main(submit) == 5, capsys.readouterr()
    assert main(["record", "--verdict", "NULL", "--why", "flat", "--env", "CPU"]) == 5
    assert main(["sync"]) == 5
    assert len(list((tmp_path / ".v2kb" / "outbox").glob("*.json"))) == 2

    server.start()
    assert main(["sync"]) == 0, capsys.readouterr()
    assert not list((tmp_path / ".v2kb" / "outbox").glob("*.json"))
    server.kill()
    assert server.manage("shell", "-v", "0", "-c", COUNT).strip() == "[1, 1, 1, 1]"
