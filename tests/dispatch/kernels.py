"""Kernels for the contract of tests.factories: honest ones, one that waits to be let go, and hostile ones."""

HONEST = """
def run(inputs):
    x, w = inputs["x"], inputs["w"]
    return {"y": x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w}
"""

NAIVE = """
import torch

def run(inputs):
    x, w = inputs["x"], inputs["w"]
    rows = [row * (row.pow(2).mean() + 1e-6).rsqrt() * w for row in x]
    return {"y": torch.stack(rows)}
"""

RUNNING = "the kernel is running"

WAITING = f"""
import pathlib
import time

GO = pathlib.Path(__file__).resolve().parents[1] / "go"

def run(inputs):
    if not GO.exists():
        print({RUNNING!r}, flush=True)
    while not GO.exists():
        time.sleep(0.02)
    x, w = inputs["x"], inputs["w"]
    return {{"y": x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w}}
"""
"""Says that it runs, then waits until a test lets it go (`WorkerProcess.let_go`)."""

WITH_GRANDCHILD = f"""
import os
import time

def run(inputs):
    if os.fork() == 0:
        os.setsid()
        time.sleep(3600)
        os._exit(0)
    print({RUNNING!r}, flush=True)
    time.sleep(3600)
"""
"""Says that it runs and hangs, with a process of its own in another session."""

RAISES = """
def run(inputs):
    raise ValueError("the tile is odd")
"""

RAISES_AT_LOAD = """
import a_module_that_nobody_has

def run(inputs):
    return {}
"""

LOOPS = """
def run(inputs):
    while True:
        pass
"""

ALLOCATES = """
import torch

held = []

def run(inputs):
    while True:
        held.append(torch.ones(4 * 1024 * 1024))
"""

PRINTS = f"""
line = "x" * 99 + "\\n"
for _ in range(1000):
    print(line * 1000, end="")
print("the last line", flush=True)
{HONEST}
"""

FORKS = """
import os
import time

def run(inputs):
    while True:
        if os.fork() == 0:
            time.sleep(3600)
"""

SEGFAULTS = """
import ctypes

def run(inputs):
    ctypes.string_at(0)
"""

WRONG_SHAPE = """
def run(inputs):
    return {"y": inputs["x"][:1].clone()}
"""

NAN = """
def run(inputs):
    return {"y": inputs["x"] * float("nan")}
"""

WRITES_OUTSIDE = """
def run(inputs):
    with open(PATH, "w") as file:
        file.write("I was here")
"""


def writes_to(path: object) -> str:
    """A kernel that writes to this file."""
    return f"PATH = {str(path)!r}\n{WRITES_OUTSIDE}"
