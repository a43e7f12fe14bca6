"""What a kernel must leave alone in the process it shares with the timer: timers, torch's functions, thread counts.

A snapshot is taken before a candidate is loaded and compared after its last call. It finds careless and simple
tampering; because a Python candidate can reach everything in its process, its timings stay marked as self-timed.
"""

import builtins
import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from v2kb.worker.harness import tensorfile, timers

Snapshot = dict[str, Any]

_NAMESPACES: dict[str, Any] = {
    "builtins": builtins,
    "json": json,
    "os": os,
    "time": time,
    "pathlib.Path": Path,
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn.functional": torch.nn.functional,
    "torch.testing": torch.testing,
    "torch.cuda": torch.cuda,
    "torch.cuda.Event": torch.cuda.Event,
    "harness.tensorfile": tensorfile,
    "harness.timers": timers,
}

_TORCH_REPLACES = frozenset({"torch.manual_seed"})
"""torch.compile and torch.profiler wrap these anew when they are first imported."""


def snapshot(*own: ModuleType) -> Snapshot:
    """Remember every public function of the watched namespaces and of `own` modules, and the process-wide settings."""
    seen: Snapshot = {}
    for label, namespace in [*_NAMESPACES.items(), *((module.__name__, module) for module in own)]:
        for name, value in list(vars(namespace).items()):
            if callable(value) and not (name.startswith("_") and isinstance(namespace, ModuleType)):
                seen[f"{label}.{name}"] = value
    for label, module in _NAMESPACES.items():
        if isinstance(module, ModuleType) and not label.startswith("harness"):
            seen[f"module {label}"] = sys.modules.get(label)
    return seen | _settings()


def _settings() -> Snapshot:
    return {
        "torch thread count": torch.get_num_threads(),
        "torch default dtype": torch.get_default_dtype(),
        "sys trace function": sys.gettrace(),
        "sys profile function": sys.getprofile(),
    }


def changes(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the names whose value is another one now. Names that are new don't count: lazy imports add some."""
    missing = object()
    watched = before.keys() - _TORCH_REPLACES
    return sorted(name for name in watched if not _same(before[name], after.get(name, missing)))


def _same(old: Any, new: Any) -> bool:
    return old is new or (isinstance(old, (int, torch.dtype)) and type(old) is type(new) and old == new)
