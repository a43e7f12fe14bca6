"""What an empty installation begins with: field knowledge, ops, kernels, specs, and people to play the loop."""

import json
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from evidence.importers.load import load_map
from kernels.models import Kernel, Op, Spec
from kernels.services.anchors import name_anchor
from kernels.services.kernels import add_version, create_kernel
from kernels.services.ops import create_op
from kernels.services.specs import create_spec, open_draft, save_revision
from references.importers.archive import read_folder
from references.importers.documents import import_documents
from v2kb.core.actor import Actor
from v2kb.core.models import User
from v2kb.core.services import create_user

FOLDER = Path(__file__).resolve().parent.parent / "v2kb" / "starter"
SOURCE = "Written for v2kb; facts from mirage-project/mirage (Apache-2.0), .claude/skills/v2-kernel-writing"
MAPS = ("decode-evidence-map.md", "cpu-probe-map.md")
ANCHOR = "rmsnorm-cpu-baseline"
PEOPLE: dict[str, tuple[str, str, list[str]]] = {
    "admin": ("Ada", "Admin", ["administrator", "operator", "viewer"]),
    "designer": ("Dora", "Designer", ["designer", "implementer", "validator"]),
    "reviewer": ("Remy", "Reviewer", ["reviewer_correctness", "reviewer_performance"]),
    "curator": ("Cora", "Curator", ["curator"]),
}
KERNELS = (
    (ANCHOR, "RMS norm on the CPU, baseline", "rmsnorm-cpu", "baseline", Kernel.Basis.ANCHOR),
    ("rmsnorm-cpu-wrong", "RMS norm on the CPU, forgets the weight", "rmsnorm-cpu", "wrong", Kernel.Basis.EXPLORATORY),
    ("rmsnorm-b200-naive", "RMS norm for B200, naive", "rmsnorm-b200", "naive", Kernel.Basis.EXPLORATORY),
    ("w13-naive", "W13 grouped GEMM, naive", "w13-grouped-gemm-b200", "naive", Kernel.Basis.EXPLORATORY),
)
SPECS = ("rmsnorm-cpu-fused", "w13-pipeline")


def load_starter() -> None:
    """Fill an installation that has no user yet, all or nothing; write the first logins beside the database."""
    if User.objects.exists():
        return
    with transaction.atomic():
        system = Actor.system(label="starter data")
        logins = [_person(system, username) for username in PEOPLE]
        designer = Actor(
            user=User.objects.get(username="designer"), kind="system", channel="system", label="starter data"
        )
        _documents(system)
        ops = {path.stem: _op(designer, path) for path in sorted((FOLDER / "ops").glob("*.json"))}
        for slug, title, op, name, basis in KERNELS:
            _kernel(designer, slug, title, ops[op], name, basis)
        name_anchor(
            designer, name=ANCHOR, op=ops["rmsnorm-cpu"], method="this harness: fresh processes, ABBA, process clock"
        )
        for name in SPECS:
            _spec(designer, json.loads((FOLDER / "specs" / f"{name}.json").read_text(encoding="utf-8")))
    _write_logins(logins)


def _person(system: Actor, username: str) -> str:
    first, last, roles = PEOPLE[username]
    password = secrets.token_urlsafe(9)
    create_user(
        system,
        username=username,
        password=password,
        roles=roles,
        first_name=first,
        last_name=last,
        staff=username in ("admin", "curator"),
    )
    return f"  {username:<10} {password:<14} {', '.join(role.replace('_', ' ') for role in roles)}\n"


def _write_logins(lines: list[str]) -> None:
    path = settings.DATA_DIR / "first-logins.txt"
    path.touch(mode=0o600)
    path.write_text("".join(lines), encoding="utf-8")


def _documents(system: Actor) -> None:
    files = read_folder(FOLDER / "documents")
    files.texts = [(path, text) for path, text in files.texts if path not in MAPS]
    import_documents(system, files=files, source=SOURCE)
    typing = (FOLDER / "levers.json").read_bytes()
    for name in MAPS:
        load_map(system, name=name, data=(FOLDER / "documents" / name).read_bytes(), typing=typing, source=SOURCE)


def _op(actor: Actor, path: Path) -> Op:
    return create_op(actor, slug=path.stem, content=json.loads(path.read_text(encoding="utf-8")), reason="starter data")


def _kernel(actor: Actor, slug: str, title: str, op: Op, name: str, basis: str) -> None:
    kernel = create_kernel(actor, slug=slug, title=title, op=op, basis=basis)
    source = (FOLDER / "kernels" / op.slug / name / "kernel.py").read_bytes()
    add_version(actor, kernel=kernel, files={"kernel.py": source}, entry="kernel.py:run")


def _spec(actor: Actor, content: dict[str, Any]) -> Spec:
    ops = [Op.objects.get(slug=named["op"]) for named in content["ops"]]
    spec = create_spec(actor, title=content["title"], ops=ops, content=content)
    draft = open_draft(actor, spec=spec)
    save_revision(actor, spec=spec, version=draft.version, reason="starter data")
    return spec
