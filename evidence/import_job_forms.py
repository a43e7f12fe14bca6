"""Forms of the import wizard."""

from typing import Any

from django import forms

from evidence.importers.load import MAX_MAP_BYTES
from evidence.importers.log_cells import word_key
from evidence.importers.log_mapping import ENTRY, FIELDS, ROW, SKIP, columns_of
from evidence.importers.typing_file import MAX_TYPING_BYTES
from evidence.models import ImportJob
from evidence.services.import_jobs import MAX_FILE_BYTES
from evidence.vocabulary import cause_choices
from v2kb.rules.evidence import DEAD, VERDICTS
from v2kb.rules.experiments import VERDICTS as HISTORY_VERDICTS
from v2kb.rules.sizes import size_text


class UploadForm(forms.Form):
    """A log or map, and for a map its typing file."""

    file = forms.FileField(
        widget=forms.FileInput(
            {"accept": ".md,.markdown,.txt,.csv,.tsv,.jsonl,.ndjson", "data-max-bytes": MAX_FILE_BYTES}
        ),
        help_text=f"At most {size_text(MAX_FILE_BYTES)}, a map {size_text(MAX_MAP_BYTES)}. "
        "A later file of the same name is compared with this one.",
    )
    typing = forms.FileField(
        label="Typing file",
        required=False,
        widget=forms.FileInput({"accept": ".json", "data-max-bytes": MAX_TYPING_BYTES}),
        help_text="Only for an evidence map: scope, cause class and what else no column says.",
    )
    source = forms.CharField(max_length=300, required=False, help_text="Where the file comes from, with its licence.")


def meanings() -> list[tuple[str, Any]]:
    """What a word of the verdict column can mean, in groups."""
    causes = [(f"{ROW}:{DEAD}:{slug}", f"row: {DEAD}, {label}") for slug, label in cause_choices()]
    rows = [(f"{ROW}:{word}:", f"row: {word}, no cause class" if word == DEAD else f"row: {word}") for word in VERDICTS]
    return [
        ("", "Not said yet"),
        ("Line of the experiment history", [(f"{ENTRY}:{word}:", f"history: {word}") for word in HISTORY_VERDICTS]),
        ("Row of evidence", [*rows, *causes]),
        ("Neither", [(f"{SKIP}::", "Leave these lines out")]),
    ]


class MappingForm(forms.Form):
    """One select per column, one per word of the verdict column. `fields` are `column_0 ...` and `word_0 ...`."""

    save_as = forms.CharField(
        label="Keep this mapping as",
        max_length=100,
        required=False,
        help_text="It is suggested for the next such file.",
    )

    def __init__(self, *args: Any, job: ImportJob, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.header: list[str] = job.profile["header"]
        choices = [("", "Left out"), *FIELDS.items()]
        columns = job.mapping.get("columns", {})
        for index, name in enumerate(self.header):
            initial = columns.get(name, "")
            field = forms.ChoiceField(label=name, choices=choices, required=False, initial=initial)
            self.fields[f"column_{index}"] = field
        self.words = self._words(job)
        known, choices = job.mapping.get("words", {}), meanings()
        for index, (word, _) in enumerate(self.words):
            meaning = known.get(word_key(word), {})
            initial = ":".join((meaning["as"], meaning["verdict"], meaning["cause_class"])) if meaning else ""
            label = word or "(an empty cell)"
            self.fields[f"word_{index}"] = forms.ChoiceField(
                label=label, choices=choices, required=False, initial=initial
            )

    def _words(self, job: ImportJob) -> list[tuple[str, int]]:
        """The words of the column that is the verdict now, with how often they stand there."""
        if self.is_bound:
            chosen = {name: self.data.get(f"column_{index}", "") for index, name in enumerate(self.header)}
        else:
            chosen = job.mapping.get("columns", {})
        found: dict[str, tuple[str, int]] = {}
        for name in columns_of({"columns": chosen}, "verdict"):
            for word, count in (job.profile["words"].get(name) or {}).items():
                key = word_key(word)
                found[key] = (found[key][0], found[key][1] + count) if key in found else (word, count)
        return list(found.values())

    def mapping(self) -> dict[str, Any]:
        """The mapping as evidence.importers.log_mapping reads it."""
        data = self.cleaned_data
        columns = {name: data.get(f"column_{index}", "") for index, name in enumerate(self.header)}
        words = {}
        for index, (word, _) in enumerate(self.words):
            kind, _, rest = (data.get(f"word_{index}") or "").partition(":")
            verdict, _, cause = rest.partition(":")
            if kind:
                words[word] = {"as": kind, "verdict": verdict, "cause_class": cause}
        return {"columns": columns, "words": words}


class ApplyImportForm(forms.Form):
    """Whether lines that can't be read are left out."""

    skip_unreadable = forms.BooleanField(label="Leave out the lines that can't be read", required=False)
