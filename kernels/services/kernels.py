"""Services on kernels and their content-addressed versions."""

from collections.abc import Mapping

from django.db.models import Max
from pydantic import ValidationError

from kernels import policies
from kernels.models import FileBlob, Kernel, KernelVersion, Op, Spec, VersionFile
from kernels.selectors.specs import spec_status
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.service import service
from v2kb.core.values import check_text, check_values
from v2kb.wire.bundle import MAX_FILE_BYTES, make_bundle

RESERVED_SLUGS = frozenset({"new"})  # an address of its own
RULE_SPEC_FIRST = "stage 2 of the loop"


@service("kernels.create_kernel")
def create_kernel(actor: Actor, *, slug: str, title: str, op: Op, basis: str, spec: Spec | None = None) -> Kernel:
    """Add a kernel under an op. Basis "spec" needs an approved, fresh spec that covers the op.

    Raises Refusal (kernel.needs_spec, kernel.spec_not_approved, kernel.spec_other_op) or Conflict (kernel.slug_taken).
    """
    policies.may_implement(actor)
    check_values(Kernel, slug=slug, title=title)
    if basis not in Kernel.Basis.values:
        raise Refusal(
            "kernel.unknown_basis",
            f"{basis!r} is no basis.",
            field="basis",
            facts={"known": Kernel.Basis.values},
        )
    if basis == Kernel.Basis.SPEC:
        if spec is None:
            raise Refusal(
                "kernel.needs_spec",
                "A kernel on this basis needs a spec.",
                field="spec",
                rule=RULE_SPEC_FIRST,
                fix="Choose an approved spec, or the basis exploratory, adopted or anchor capture.",
            )
        if not spec.ops.filter(pk=op.pk).exists():
            raise Refusal("kernel.spec_other_op", f"{spec.code} does not cover {op.slug}.", field="spec")
        status = spec_status(spec)
        if status.state not in ("approved to build", "verdict-ready"):
            raise Refusal(
                "kernel.spec_not_approved",
                f"{spec.code} is {status.state}, not approved to build.",
                field="spec",
                rule=RULE_SPEC_FIRST,
                fix="Have the spec approved first.",
                facts={"state": status.state},
            )
    elif spec is not None:
        raise Refusal("kernel.spec_not_wanted", f"A kernel that is {basis} has no spec.", field="spec")
    if slug in RESERVED_SLUGS or Kernel.objects.filter(slug=slug).exists():
        raise Conflict("kernel.slug_taken", f"A kernel {slug} exists already.", field="slug")
    kernel = Kernel.objects.create(slug=slug, title=title, op=op, basis=basis, spec=spec, created_by=actor.user)
    record(
        actor,
        "kernels.create_kernel",
        kernel,
        f"kernel {slug} added under {op.slug}",
        after={"op": op.slug, "basis": basis, "spec": spec.code if spec else ""},
    )
    return kernel


@service("kernels.add_version")
def add_version(
    actor: Actor,
    *,
    kernel: Kernel,
    files: Mapping[str, bytes],
    entry: str,
    language: str = "python",
    note: str = "",
) -> KernelVersion:
    """Add a content-addressed version: `files` maps relative paths to contents. The same files give the same version.

    Raises Refusal kernel.bad_files (field files or entry) for unsafe paths, missing entry, text that is not UTF-8.
    """
    policies.may_implement(actor)
    check_values(KernelVersion, entry=entry)
    check_text(note, "note")
    bundle = _bundle(files, entry, language)
    kernel = Kernel.objects.select_for_update(of=("self",)).select_related("spec__head").get(pk=kernel.pk)
    existing = kernel.versions.filter(digest=bundle.digest).first()
    if existing is not None:
        raise Conflict(
            "kernel.same_files",
            f"These files are already version {existing.number}.",
            field="files",
            facts={"version": existing.number, "digest": bundle.digest},
        )
    number = (kernel.versions.aggregate(last=Max("number"))["last"] or 0) + 1
    version = KernelVersion.objects.create(
        kernel=kernel,
        number=number,
        digest=bundle.digest,
        language=language,
        entry=entry,
        note=note,
        spec_revision=kernel.spec.head if kernel.spec else None,
        author=actor.user,
    )
    for file in bundle.files:
        content = files[file.path]
        blob, _ = FileBlob.objects.get_or_create(
            sha256=file.sha256, defaults={"size_bytes": len(content), "content": content}
        )
        VersionFile.objects.create(version=version, path=file.path, blob=blob)
    record(
        actor,
        "kernels.add_version",
        kernel,
        f"version {number} added",
        after={"digest": bundle.digest, "entry": entry},
    )
    return version


def _bundle(files: Mapping[str, bytes], entry: str, language: str):
    if not files:
        raise Refusal("kernel.bad_files", "A version needs at least one file.", field="files")
    if language not in KernelVersion.Language.values:
        raise Refusal(
            "kernel.unknown_language",
            f"The language {language!r} is not known here.",
            field="language",
            facts={"known": KernelVersion.Language.values},
        )
    for path, content in files.items():
        if len(content) > MAX_FILE_BYTES:
            raise Refusal("kernel.bad_files", f"{path} is larger than {MAX_FILE_BYTES:,} bytes.", field="files")
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refusal(
                "kernel.bad_files",
                f"{path} is not UTF-8 text (byte {error.start}).",
                field="files",
                fix="Send source files; build products stay out.",
            ) from error
    try:
        return make_bundle(entry, files, language)
    except (ValidationError, ValueError) as error:
        text = (
            error.errors()[0]["msg"].removeprefix("Value error, ") if isinstance(error, ValidationError) else str(error)
        )
        field = "entry" if "entry" in text.lower() else "files"
        raise Refusal("kernel.bad_files", text, field=field) from error
