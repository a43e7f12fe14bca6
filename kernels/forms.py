"""Forms of specs, reviews, kernels and runs. They read; the services decide."""

from collections.abc import Iterable, Mapping

from django import forms

from kernels.models import Anchor, Kernel, KernelVersion, Op, Position, Run, Spec
from kernels.models.review import Aspect
from v2kb.broker import RUN_QUEUES
from v2kb.rules.ladder import Standing
from v2kb.rules.spec_markdown.blocks import MAX_BYTES


class SpecForm(forms.Form):
    """Begin a spec."""

    title = forms.CharField(max_length=200)
    ops = forms.ModelMultipleChoiceField(
        Op.objects.filter(archived_at__isnull=True),
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
        help_text="One or several ops that share a file pair.",
    )


class SpecImportForm(forms.Form):
    """Read a spec from a file or from text, then begin it."""

    file = forms.FileField(required=False, allow_empty_file=True, help_text="Markdown or JSON in UTF-8, at most 2 MB.")
    text = forms.CharField(
        required=False,
        strip=False,
        max_length=MAX_BYTES,
        widget=forms.Textarea(attrs={"rows": 14, "spellcheck": "false", "class": "code"}),
        label="Or its text",
    )
    title = forms.CharField(max_length=200, required=False, help_text="Empty: the title that the file gives.")
    ops = forms.ModelMultipleChoiceField(
        Op.objects.filter(archived_at__isnull=True),
        to_field_name="slug",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Which ops it covers; needed to begin it.",
    )

    def clean_file(self):
        """The text of an uploaded file."""
        file = self.cleaned_data["file"]
        if file is None:
            return ""
        if file.size > MAX_BYTES:
            raise forms.ValidationError("The file is larger than 2 MB.")
        try:
            return file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise forms.ValidationError("The file is no text in UTF-8.") from error

    def clean(self):
        data = super().clean()
        data["text"] = (data.get("file") or data.get("text") or "").replace("\x00", "")
        if not data["text"].strip() and "file" not in self.errors:
            self.add_error("text", "Choose a file or paste the text of a spec.")
        return data


class CommentForm(forms.Form):
    """Comment on a place of a revision."""

    place = forms.CharField(max_length=40)
    text = forms.CharField(
        max_length=20_000, widget=forms.Textarea(attrs={"rows": 3, "data-key": "c"}), label="Comment"
    )
    quote = forms.CharField(max_length=2000, required=False, widget=forms.HiddenInput)
    parent = forms.IntegerField(required=False, widget=forms.HiddenInput)


class PositionForm(forms.Form):
    """Take a position."""

    aspect = forms.ChoiceField(choices=Aspect.choices)
    position = forms.ChoiceField(choices=Position.Kind.choices)
    note = forms.CharField(max_length=4000, required=False, widget=forms.Textarea(attrs={"rows": 2}))


class SignForm(forms.Form):
    """Sign the mechanism of a choice as new."""

    choice_id = forms.CharField(max_length=24, widget=forms.HiddenInput)
    reason = forms.CharField(
        max_length=4000, widget=forms.Textarea(attrs={"rows": 2}), label="What is new against the dead rows"
    )


class KernelForm(forms.Form):
    """Add a kernel."""

    slug = forms.SlugField(max_length=80, label="Name", help_text="Lower-case letters, digits and hyphens.")
    title = forms.CharField(max_length=200)
    op = forms.ModelChoiceField(Op.objects.filter(archived_at__isnull=True), to_field_name="slug")
    basis = forms.ChoiceField(
        choices=Kernel.Basis.choices, help_text="Only a kernel under an approved spec can back a verdict."
    )
    spec = forms.ModelChoiceField(Spec.objects.filter(archived_at__isnull=True), to_field_name="code", required=False)


class MultipleFileInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class MultipleFileField(forms.FileField):
    """Several uploaded files."""

    widget = MultipleFileInput

    def clean(self, data, initial=None):
        files = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(MultipleFileField, self).clean(file, initial) for file in files]


class VersionForm(forms.Form):
    """Add a version: either pasted source or uploaded files."""

    entry = forms.CharField(
        max_length=200, initial="kernel.py:run", help_text="File and function: run(inputs) returns the outputs by name."
    )
    source = forms.CharField(
        required=False,
        strip=False,
        max_length=512 * 1024,
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "false", "class": "code"}),
        label="Source of the entry's file",
    )
    files = MultipleFileField(required=False, label="Or files", help_text="Text files; an entry's file among them.")
    note = forms.CharField(required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 2}))

    def clean(self):
        data = super().clean()
        if not data.get("source", "").strip() and not data.get("files"):
            self.add_error("source", "Paste the source or choose files.")
        names = [file.name for file in data.get("files") or []]
        if data.get("source", "").strip():
            names.append(self._entry_path())
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            self.add_error("files", f"{', '.join(twice)[:200]} is there twice; names count without their folders.")
        return data

    def _entry_path(self) -> str:
        return self.cleaned_data.get("entry", "").partition(":")[0] or "kernel.py"

    def contents(self) -> dict[str, bytes]:
        """Path -> content of what was sent."""
        contents = {file.name: file.read() for file in self.cleaned_data.get("files") or []}
        source = self.cleaned_data.get("source", "")
        if source.strip():
            contents[self._entry_path()] = source.replace("\r\n", "\n").encode("utf-8")
        return contents


STANDINGS = {
    "PASS": "passed validation",
    "PENDING": "not validated on its target",
    "MISSING": "never validated over every workload",
    "FAIL": "failed validation",
}


def _by_standing(versions: Iterable[KernelVersion], standings: Mapping[int, Standing]) -> list[tuple[str, list]]:
    """Choices of versions in groups by how they stand below perf."""
    groups: dict[str, list[tuple[int, str]]] = {label: [] for label in STANDINGS.values()}
    for version in versions:
        status = standings[version.pk].status if version.pk in standings else "MISSING"
        groups[STANDINGS[status]].append((version.pk, str(version)))
    return [(label, choices) for label, choices in groups.items() if choices]


class RunForm(forms.Form):
    """Send a run."""

    kind = forms.ChoiceField(choices=Run.Kind.choices)
    version = forms.ModelChoiceField(KernelVersion.objects.none())
    anchor = forms.ModelChoiceField(Anchor.objects.none(), required=False, to_field_name="name")
    workloads = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked means all."
    )
    rounds = forms.IntegerField(initial=5, help_text="Pairs of fresh processes, 3 to 64.")
    launches = forms.IntegerField(initial=30, help_text="Timed calls per process, 30 to 1000.")
    queue = forms.ChoiceField(required=False, choices=[("", "the op's own target"), *((q, q) for q in RUN_QUEUES)])
    diagnostic = forms.BooleanField(
        required=False, label="Diagnostic only", help_text="Bound to no prediction; can't back a verdict."
    )
    idempotency_key = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)

    def __init__(self, *args, op: Op, standings: Mapping[int, Standing], **kwargs):
        super().__init__(*args, **kwargs)
        versions = KernelVersion.objects.filter(kernel__op=op).select_related("kernel")
        self.fields["version"].queryset = versions
        self.fields["version"].choices = [("", "---------"), *_by_standing(versions, standings)]
        self.fields["anchor"].queryset = Anchor.objects.filter(op=op)
        names = [workload["name"] for workload in op.head.content["workloads"]] if op.head else []
        self.fields["workloads"].choices = [(name, name) for name in names]


class AnchorForm(forms.Form):
    """Name an anchor."""

    name = forms.SlugField(max_length=80)
    method = forms.CharField(max_length=300, initial="this harness, fresh processes, process clock")
