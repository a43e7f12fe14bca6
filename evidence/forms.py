"""Forms of evidence. They hold text; the rules judge the content."""

import re
from typing import Any

from django import forms

from evidence.lines import (
    approach_lines,
    number_lines,
    read_approaches,
    read_numbers,
    read_sources,
    source_lines,
)
from evidence.models import Lever, RowBounds, Supersession, Verdict
from evidence.services.revisions import checked_fields
from evidence.services.watching import MAX_BOUND
from evidence.vocabulary import cause_choices, known_words, unit_spellings
from references.models import UpstreamSnapshot
from v2kb.core.errors import Refusal
from v2kb.rules.evidence import FIELDS, MAX_TEXT, MAX_TITLE, UNTESTED, cause_label
from v2kb.rules.scope import DIMENSIONS, ENVELOPES

SCOPE_HELP = {
    "op_class": "for example gemv, attention; commas between several",
    "m": "rows per step: 1, 1..16, >=16",
    "batch": "1, 1..8",
    "dtype": "fp8, bf16; commas between several",
    "arch": "sm_100, sm_90 or a card such as B200",
    "grid": "number of thread blocks: 136",
    "sharding": "rep, col, row, ep, vocab",
    "baseline": "upstream branch or commit that it was compared with",
}
_FIELD_OF_PATH = re.compile(r"^scope\.(\w+)$")


def lever_choices() -> list[tuple[str, str]]:
    """Levers that may be picked, by name."""
    levers = Lever.objects.filter(archived_at__isnull=True).values_list("slug", "name")
    return [("", "Pick a lever"), *((slug, f"{name} ({slug})") for slug, name in levers)]


def _area(
    label: str, help_text: str = "", *, rows: int = 3, longest: int = MAX_TEXT, code: bool = False
) -> forms.CharField:
    attributes = {"rows": rows} | ({"class": "code", "spellcheck": "false"} if code else {})
    return forms.CharField(
        label=label, required=False, max_length=longest, help_text=help_text, widget=forms.Textarea(attributes)
    )


class ContentForm(forms.Form):
    """What a row should say, and why. `known` is the content that the form was opened with."""

    verdict = forms.ChoiceField(choices=Verdict.choices)
    lever = forms.ChoiceField(help_text="The technique that this row is about.")
    title = forms.CharField(max_length=MAX_TITLE, help_text="A short line for lists.")
    scope_op_class = forms.CharField(label="Op class", required=False, max_length=400)
    scope_m = forms.CharField(label="M", required=False, max_length=200)
    scope_batch = forms.CharField(label="Batch", required=False, max_length=200)
    scope_dtype = forms.CharField(label="Dtype", required=False, max_length=400)
    scope_arch = forms.CharField(label="Architecture", required=False, max_length=400)
    scope_envelope = forms.MultipleChoiceField(
        label="Envelope",
        required=False,
        choices=[(name, name.replace("_", " ")) for name in ENVELOPES],
        widget=forms.CheckboxSelectMultiple,
    )
    scope_grid = forms.CharField(label="Grid", required=False, max_length=200)
    scope_sharding = forms.CharField(label="Sharding", required=False, max_length=400)
    scope_baseline = forms.CharField(label="Upstream baseline", required=False, max_length=200)
    numbers = _area(
        "Numbers",
        "One per line: −7..−9% | verdict | vs v1 | tier 1 | n 3 | verified. A number that can't be read stays as text.",
        rows=5,
        longest=20_000,
        code=True,
    )
    mechanism = _area("Mechanism", "Why it works or fails. Markdown; [[D3]] links a row.", rows=4)
    cause_class = forms.ChoiceField(
        label="Cause class", required=False, help_text="A DEAD row without one blocks every re-proposal."
    )
    approaches = _area("Approaches tried", "One per line. A single approach makes a DEAD row weak.", longest=50_000)
    not_checked = _area("Not checked", "What a later attempt might still try; DEAD rows need it.")
    bound = _area("Bound or caveat", "What the upside is bounded by; UNTESTED rows need it.")
    structural = forms.BooleanField(
        required=False, help_text="It fixed something rather than made it faster: no number is needed."
    )
    measured_on = forms.CharField(
        label="Measured on", required=False, max_length=20, widget=forms.DateInput({"type": "date"})
    )
    measured_note = _area("Note on the measurement", "Words of the source, several dates, what the number leaves open.")
    sources = _area(
        "Sources",
        "One per line: commit: 62449212, or document: section 2 | decode-evidence-map#anchor. Kinds: document, commit, "
        "note, run, url.",
        longest=50_000,
        code=True,
    )
    reason = forms.CharField(
        max_length=4000,
        help_text="Why the row should say this. Reviewers read it first.",
        widget=forms.Textarea({"rows": 3}),
    )
    base_hash = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, known: dict[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.known = known or {}
        self.fields["lever"].choices = self._levers()
        self.fields["cause_class"].choices = self._causes()
        for name, text in SCOPE_HELP.items():
            self.fields[f"scope_{name}"].help_text = text
        for name, words in known_words().items():
            self.fields[f"scope_{name}"].help_text += f"; known: {', '.join(words)}"

    def _levers(self) -> list[tuple[str, str]]:
        choices = lever_choices()
        current = self.known.get("lever")
        if current and current not in dict(choices):
            choices.append((current, f"{current} (archived)"))
        return choices

    def _causes(self) -> list[tuple[str, str]]:
        choices = [("", "None"), *cause_choices()]
        current = self.known.get("cause_class")
        if current and current not in dict(choices):
            choices.append((current, f"{cause_label(current)} (archived)"))
        return choices

    @property
    def scope_fields(self) -> list[forms.BoundField]:
        """The fields of the scope, in the order of its dimensions."""
        return [self[f"scope_{name}"] for name in DIMENSIONS]

    def clean(self) -> dict[str, Any]:
        """Read the lines of numbers, approaches and sources; errors name the line. Where something can't be read, what
        the services would say of the other fields is said at once.
        """
        data = super().clean()
        role = "bound" if data.get("verdict") == UNTESTED else "verdict"
        readers = {
            "numbers": lambda text: read_numbers(
                text, role=role, known=self.known.get("numbers", ()), units=unit_spellings()
            ),
            "approaches": lambda text: read_approaches(text, known=self.known.get("approaches", ())),
            "sources": lambda text: read_sources(text, known=self.known.get("sources", ())),
        }
        for name, read in readers.items():
            value, problems = read(data.get(name) or "")
            for problem in problems:
                self.add_error(name, forms.ValidationError(f"{problem.message} {problem.fix}", code="evidence.line"))
            if not problems:
                data[name] = value
        if self.errors:
            self._add_refusals_of_the_rest()
        return data

    def _add_refusals_of_the_rest(self) -> None:
        faulty = set(self.errors)
        try:
            checked_fields(self.content(), base=self.known or None)
        except Refusal as refusal:
            rest = [problem for problem in refusal.problems if form_place(problem["field"] or "")[0] not in faulty]
            for problem in rest:
                add_content_problem(self, problem)

    def content(self) -> dict[str, Any]:
        """The content for the services; fields with errors are empty."""
        data = self.cleaned_data
        empty = {"numbers": [], "approaches": [], "sources": [], "structural": False}
        names = [name for name in FIELDS if name != "scope"]
        content = {name: data.get(name, empty.get(name, "")) for name in names}
        return content | {"scope": {name: data.get(f"scope_{name}", "") for name in DIMENSIONS}}


def initial_of(content: dict[str, Any]) -> dict[str, Any]:
    """The form's values for a content."""
    initial = {name: value for name, value in content.items() if name != "scope"}
    for name in DIMENSIONS:
        value = content["scope"].get(name, "")
        as_list = name == "envelope"
        initial[f"scope_{name}"] = (value or []) if as_list else ", ".join(value) if isinstance(value, list) else value
    return initial | {
        "numbers": number_lines(content["numbers"]),
        "approaches": approach_lines(content["approaches"]),
        "sources": source_lines(content["sources"]),
    }


def add_content_refusal(form: ContentForm, refusal: Refusal) -> None:
    """Put a refusal of the content into the form: `scope.m` at M, `numbers[2].unit` at the numbers."""
    for problem in refusal.problems or [refusal.as_document()]:
        add_content_problem(form, problem)


def add_content_problem(form: ContentForm, problem: dict[str, Any]) -> None:
    """Put one problem of the content at its field."""
    name, place = form_place(problem.get("field") or "")
    text = place + problem["message"] + (f" {problem['fix']}" if problem.get("fix") else "")
    form.add_error(name if name in form.fields else None, forms.ValidationError(text, code=problem["code"]))


def form_place(path: str) -> tuple[str, str]:
    """(field of the form, words for the place in it) of a path in the content."""
    if found := _FIELD_OF_PATH.match(path):
        return f"scope_{found.group(1)}", ""
    name, bracket, rest = path.partition("[")
    if not bracket:
        return "scope_op_class" if name == "scope" else name, ""
    index, _, inner = rest.partition("]")
    return name, f"Entry {int(index) + 1}{f', {inner[1:]}' if inner else ''}: "


class ReasonForm(forms.Form):
    """A reason that must be given."""

    reason = forms.CharField(max_length=4000, widget=forms.Textarea({"rows": 3}))


class SupersedeForm(forms.Form):
    """How another row stands to this one."""

    newer = forms.CharField(label="Newer row", max_length=20, help_text="Its code, for example D12.")
    kind = forms.ChoiceField(choices=Supersession.Kind.choices)
    reason = forms.CharField(max_length=4000, widget=forms.Textarea({"rows": 2}))


class MergeForm(forms.Form):
    """Which row this one takes in."""

    taken = forms.CharField(
        label="Row that is taken in", max_length=20, help_text="Its code, for example D12. It is archived as merged."
    )
    reason = forms.CharField(max_length=4000, widget=forms.Textarea({"rows": 3}))


class BoundsForm(forms.Form):
    """What a row was measured on; what is empty is not watched."""

    baseline = forms.CharField(label="Commit of the baseline", required=False, max_length=MAX_BOUND)
    driver = forms.CharField(required=False, max_length=MAX_BOUND, help_text="For example 570.86.15.")
    snapshot = forms.ChoiceField(label="Upstream snapshot", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        snapshots = UpstreamSnapshot.objects.order_by("-pk")[:200]
        self.fields["snapshot"].choices = [("", "none"), *((str(each.pk), str(each)[:80]) for each in snapshots)]

    @classmethod
    def of(cls, bounds: RowBounds | None, **kwargs: Any) -> "BoundsForm":
        """The form with what is recorded."""
        known = {"baseline": bounds.baseline, "driver": bounds.driver, "snapshot": bounds.snapshot_id} if bounds else {}
        return cls(initial=known, **kwargs)


class LeverForm(forms.Form):
    """A lever. The slug is chosen once."""

    name = forms.CharField(max_length=200)
    slug = forms.CharField(max_length=80, required=False, help_text="Made from the name when left empty.")
    description = forms.CharField(max_length=4000, required=False, widget=forms.Textarea({"rows": 3}))
    parent = forms.ChoiceField(required=False, help_text="DEAD rows of the levers above count for this one too.")
    aliases = forms.CharField(
        max_length=20_000, required=False, widget=forms.Textarea({"rows": 4}), help_text="One per line."
    )

    def __init__(self, *args: Any, lever: Lever | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(slug, label) for slug, label in lever_choices() if slug and (lever is None or slug != lever.slug)]
        if lever and lever.parent and lever.parent.slug not in dict(choices):
            choices.append((lever.parent.slug, lever.parent.name))
        self.fields["parent"].choices = [("", "No lever above it"), *choices]
        if lever is not None:
            del self.fields["slug"], self.fields["aliases"]

    def clean_aliases(self) -> list[str]:
        """One alias per line."""
        return [line.strip() for line in self.cleaned_data["aliases"].splitlines() if line.strip()]


class AliasForm(forms.Form):
    """Another name of a lever."""

    alias = forms.CharField(label="Another name", max_length=200)
