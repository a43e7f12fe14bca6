"""How strongly a candidate is fenced in on this machine, found by trying, and the command that does it.

Levels, strongest first:
  bwrap+uid      bubblewrap started by root: own namespaces, no network, minimal read-only view, an unused user id
  bwrap          the same started by an ordinary user, in a user namespace
  process-group+uid, process-group
                 no bubblewrap: own session, resource limits and a watcher, but the candidate sees the file system
                 and the network. Started by root it gets an unused user id where that user can read the interpreter;
                 where it can't, the limit on processes is only watched. Visible in every result.

Where the installed bubblewrap can, user namespaces are refused inside: a candidate that could make one would be root in
it, and reach far more of the kernel. Root's fence then holds a second one, in which the unused user id is all there is.
"""

import functools
import os
import random
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import v2kb

BOX = "/box"
TEMP_BYTES = 256 * 1024 * 1024
PROBE_TIMEOUT_S = 20
PROJECT_ROOT = Path(v2kb.__path__[0]).resolve().parent
_UID_FIRST, _UID_COUNT = 61_000, 4_000
_SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/passwd",
    "/etc/nsswitch.conf",
    "/sys/devices/system/cpu",
)
_CODE = ("v2kb/__init__.py", "v2kb/worker")
_STEP_DOWN = """import os, sys
uid = int(sys.argv[1])
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
os.execvp(sys.argv[2], sys.argv[2:])"""
_NO_USERNS = ("--unshare-user", "--disable-userns")
_PROBE = "import ctypes, encodings, os, sys; os.stat({seen!r})"
_PROBE_NO_USERNS = "; sys.exit(ctypes.CDLL(None).unshare(0x10000000) == 0)"  # CLONE_NEWUSER, which must fail
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
_GPU_PATHS = ("/usr/local/nvidia", "/usr/local/cuda", "/opt/nvidia", "/proc/driver/nvidia")


@dataclass(frozen=True)
class Sandbox:
    """A level, the user id that the fenced processes run as (None: the worker's own), and whether they are refused
    user namespaces of their own.
    """

    level: str
    uid: int | None = None
    no_userns: bool = False

    @property
    def namespaces(self) -> bool:
        return self.level.startswith("bwrap")

    @property
    def said(self) -> str:
        """The isolation in words, as the workers page and every result show it."""
        return f"{self.level}, no user namespaces inside" if self.no_userns else self.level

    @property
    def uid_to_take(self) -> int | None:
        """The user id that the fork server itself has to change to; None where it begins as that user."""
        return None if self.no_userns else self.uid

    def paths(self, workspace: Path) -> dict[str, str]:
        """Where the fenced processes find the exchange folders of `workspace`."""
        if self.namespaces:
            return {"in": f"{BOX}/in", "out": f"{BOX}/out", "tmp": "/tmp"}
        return {name: str(workspace / name) for name in ("in", "out", "tmp")}

    def prepare(self, workspace: Path) -> None:
        """Make the exchange folders: `in` is written by the parent, `out` and `tmp` by the fenced processes."""
        for name in ("in", "out", "tmp"):
            (workspace / name).mkdir()
        if self.uid is not None:
            workspace.chmod(0o711)
            for name in ("out", "tmp"):
                os.chown(workspace / name, self.uid, self.uid)

    def command(self, workspace: Path, python_code: str, argument: str) -> list[str]:
        """Return the command that runs `python_code` in isolated mode inside the fence."""
        return self.fenced(workspace, [sys.executable, "-I", "-B", "-c", python_code, argument])

    def fenced(self, workspace: Path | None, command: list[str]) -> list[str]:
        """Return `command` inside the fence; without a workspace there are no exchange folders."""
        if not self.namespaces:
            return command
        if self.uid is None:
            return [*_bwrap(["--unshare-all", *(_NO_USERNS if self.no_userns else ())]), *_binds(workspace), *command]
        if self.no_userns:
            step_down = [sys.executable, "-I", "-c", _STEP_DOWN, str(self.uid)]
            inner = [_bwrap_path(), "--die-with-parent", *_NO_USERNS, "--dev-bind", "/", "/", "--chdir", "/tmp"]
            command = [*step_down, *inner, *command]
        return [*_bwrap(_AS_ROOT), *_binds(workspace), *command]

    def environment(self, workspace: Path) -> dict[str, str]:
        """Return the whole environment of the fenced processes: nothing of the worker's own goes in."""
        home = self.paths(workspace)["tmp"]
        keep = {
            name: os.environ[name]
            for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "TRITON_PTXAS_PATH", "TZ")
            if name in os.environ
        }
        return keep | {
            "PATH": "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "USER": "kernel",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "TRITON_CACHE_DIR": f"{home}/triton",
            "TORCHINDUCTOR_CACHE_DIR": f"{home}/inductor",
        }


def python_paths() -> list[str]:
    """Return what the fenced interpreter needs on sys.path besides its own library: the project's root and packages."""
    return [str(PROJECT_ROOT), *_package_folders()]


def _package_folders() -> list[str]:
    return [entry for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))]


@functools.cache
def probe() -> Sandbox:
    """Find the strongest level that works here, by starting an interpreter in it."""
    as_root = os.geteuid() == 0
    uid = _unused_uid() if as_root else None
    see = _PROBE.format(seen=str(PROJECT_ROOT / "v2kb/worker"))
    python = [sys.executable, "-I", "-c"]
    for no_userns in (True, False) if shutil.which("bwrap") else ():  # an older bubblewrap knows no such option
        fence = Sandbox("bwrap+uid" if as_root else "bwrap", uid, no_userns)
        if _works(fence.fenced(None, [*python, see + _PROBE_NO_USERNS if no_userns else see])):
            return fence
    if as_root and _works([*python, see], user=uid, group=uid, extra_groups=[]):
        return Sandbox("process-group+uid", uid)
    return Sandbox("process-group")


def _works(command: list[str], **options: Any) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, timeout=PROBE_TIMEOUT_S, check=False, cwd="/", **options)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def fresh() -> Sandbox:
    """Return the probed level with a user id of its own, so that one job's processes are never counted in another's."""
    level = probe()
    return replace(level, uid=_unused_uid()) if level.uid is not None else level


def _unused_uid() -> int:
    return _UID_FIRST + random.SystemRandom().randrange(_UID_COUNT)


# Root needs no user namespace; who runs inside gives up root before it does anything else.
_AS_ROOT = [
    *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
]


def _bwrap_path() -> str:
    """Where bubblewrap is; inside the fence PATH is another."""
    return shutil.which("bwrap") or "bwrap"


def _bwrap(namespaces: list[str]) -> list[str]:
    fence = [_bwrap_path(), "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    return [*fence, *namespaces, "--hostname", "box"]


def _binds(workspace: Path | None) -> list[str]:
    arguments = ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/tmp", "/dev/shm"):
        arguments += ["--perms", "1777", "--size", str(TEMP_BYTES), "--tmpfs", folder]
    made: set[str] = set()
    for path in _readable_paths():
        arguments += [*_parents(path, made), "--ro-bind", path, path]
    for device in [*_GPU_DEVICES, *(f"/dev/nvidia{index}" for index in range(16))]:
        if os.path.exists(device):
            arguments += ["--dev-bind", device, device]
    if workspace is not None:
        arguments += ["--perms", "0755", "--dir", BOX]
        arguments += ["--ro-bind", str(workspace / "in"), f"{BOX}/in", "--bind", str(workspace / "out"), f"{BOX}/out"]
    # What bubblewrap made itself is read-only too, so that the only writable places are those that are wiped.
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]


def _readable_paths() -> list[str]:
    """Everything the fenced side may read: the system, the interpreter, its packages, and the harness."""
    wanted = [path for path in _SYSTEM if os.path.exists(path)]
    code = [str(PROJECT_ROOT / name) for name in _CODE]
    interpreter = [sys.prefix, sys.base_prefix, *(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))]
    extra = [path for path in _GPU_PATHS if os.path.exists(path) and not path.startswith("/proc")]
    chosen: list[str] = []
    for path in [*wanted, *interpreter, *_package_folders(), *extra, *code]:
        known = any(path == other or path.startswith(other.rstrip("/") + "/") for other in chosen)
        if not known and os.path.exists(path):
            chosen.append(path)
    return chosen


def _parents(path: str, made: set[str]) -> list[str]:
    """Make the folders above a bind readable by everyone: bubblewrap would make them for its own user alone."""
    arguments: list[str] = []
    for parent in reversed(Path(path).parents):
        text = str(parent)
        if text != "/" and text not in made:
            made.add(text)
            arguments += ["--perms", "0755", "--dir", text]
    return arguments
