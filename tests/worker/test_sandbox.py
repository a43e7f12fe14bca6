"""What the fence refuses beside files and network: user namespaces, where the installed bubblewrap can."""

import os
import shutil
import subprocess
import sys

import pytest

from v2kb.worker.harness import sandbox
from v2kb.worker.harness.sandbox import Sandbox

from .conftest import sample

NEW_USER = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10000000) != 0)"
MAKES_ONE = sample("honest_plain").replace(
    "    return {",
    "    import ctypes\n    if ctypes.CDLL(None).unshare(0x10000000) == 0:\n"
    "        raise RuntimeError('root in a namespace of its own')\n    return {",
)
no_userns = pytest.mark.skipif(not sandbox.probe().no_userns, reason="needs bubblewrap 0.8 or newer")


def makes_one(fence: Sandbox) -> bool:
    """Whether a process inside can make a user namespace."""
    command = fence.fenced(None, [sys.executable, "-I", "-c", NEW_USER])
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    assert not done.stderr, done.stderr
    return done.returncode == 0


@no_userns
def test_no_user_namespace_can_be_made_inside(bench):
    fence = sandbox.probe()
    assert "no user namespaces" in fence.said
    assert not makes_one(fence)
    assert makes_one(Sandbox(fence.level, fence.uid)), "the fence is what refuses it"
    assert bench.check(MAKES_ONE)[0].value == "PASS"


@no_userns
def test_the_fence_of_an_ordinary_user_refuses_them_too():
    assert not makes_one(Sandbox("bwrap", None, no_userns=True))
    assert makes_one(Sandbox("bwrap"))


def test_a_bubblewrap_that_can_not_refuse_them_still_fences(tmp_path, monkeypatch):
    real = shutil.which("bwrap")
    if real is None or not sandbox.probe().namespaces:
        pytest.skip("needs bubblewrap")
    old = tmp_path / "bwrap"
    old.write_text(f'#!/bin/sh\ncase "$*" in *disable-userns*) exit 1; esac\nexec {real} "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = sandbox.probe.__wrapped__()
    assert (found.namespaces, found.no_userns, found.said) == (True, False, found.level)
