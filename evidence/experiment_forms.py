"""Forms of the experiment history."""

from typing import Any

from django import forms

from evidence.forms import lever_choices
from evidence.models import ExperimentEntry
from v2kb.rules.experiments import MAX_LENGTHS, VERDICTS, split_links


class EntryForm(forms.Form):
    """One line of the history."""

    on = forms.DateField(label="Date", widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"))
    env = forms.CharField(
        label="Environment", max_length=MAX_LENGTHS["env"], help_text="The machine and its state: B200, driver 570."
    )
    verdict = forms.ChoiceField(choices=[("", "Pick a verdict"), *((word, word) for word in VERDICTS)])
    why = forms.CharField(max_length=MAX_LENGTHS["why"], help_text="One line: what was found, and why.")
    trace = forms.CharField(
        label="Trace directory", required=False, max_length=MAX_LENGTHS["trace"], help_text="outputs/split_k_0703/"
    )
    commit = forms.CharField(required=False, max_length=MAX_LENGTHS["commit"])
    lever = forms.ChoiceField(required=False)
    links = forms.CharField(
        label="Rows, kernels, runs",
        required=False,
        max_length=1000,
        help_text="D3, kernel:its-name, run:its-id; commas between several.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["lever"].choices = [("", "None"), *lever_choices()[1:]]

    def entry(self) -> dict[str, Any]:
        """The entry as v2kb.rules.experiments reads it. Call it when the form is valid."""
        data = self.cleaned_data
        return {**data, "on": data["on"].isoformat(), "links": split_links(data["links"])}


def initial_of(entry: ExperimentEntry) -> dict[str, Any]:
    """The form's values of an entry."""
    values = {name: getattr(entry, name) for name in ("on", "env", "verdict", "why", "trace", "commit")}
    links = ", ".join(str(link).removeprefix("row:") for link in entry.links.all())
    return {**values, "lever": entry.lever.slug if entry.lever else "", "links": links}
