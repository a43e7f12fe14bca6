"""The form of an op's contract: tables as text lines, parsed into the structured contract."""

import re
from typing import Any

from django import forms

from v2kb.rules.decision_tree import questions
from v2kb.rules.op_contract import KINDS, PROFILES, SHARDINGS, TARGETS
from v2kb.rules.scope import ENVELOPES

_TENSOR = re.compile(
    r"\s*(?P<name>\w+)\s*\[(?P<shape>[^\]]*)\]\s*(?P<dtype>\w+)?\s*(?P<kind>activation|weight|scale|index)?\s*(?P<layout>\w+)?\s*\Z"
)
_WORKLOAD = re.compile(r"\s*(?P<name>[^\s:]+)\s*:\s*(?P<axes>[^@]*?)\s*(?:@\s*(?P<profile>\w+))?\s*\Z")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _choices(values: tuple[str, ...], empty: bool = False) -> list[tuple[str, str]]:
    found = [(value, value.replace("_", " ")) for value in values]
    return [("", "–"), *found] if empty else found


class ContractForm(forms.Form):
    """Title, axes, tensors, place in production, reference, workloads."""

    title = forms.CharField(max_length=200)
    kind = forms.ChoiceField(choices=_choices(KINDS), initial="other")
    envelope = forms.ChoiceField(choices=_choices(ENVELOPES), help_text="Where it runs in production.")
    target = forms.ChoiceField(choices=_choices(TARGETS), help_text="The card it is meant for.")
    grid = forms.CharField(required=False, max_length=6, help_text="Blocks in production, for example 136.")
    sharding = forms.ChoiceField(choices=_choices(SHARDINGS), initial="rep")
    axes = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "class": "code"}),
        help_text="One a line: 'hidden = 7168', or a name alone for a symbolic axis.",
    )
    inputs = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "class": "code"}),
        help_text="One a line: 'x [rows, hidden] bfloat16 activation'.",
    )
    outputs = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2, "class": "code"}), help_text="One a line: 'y [rows, hidden] bfloat16'."
    )
    workloads = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "code"}),
        help_text=f"One a line: 'decode: rows=1 @ random'. Profiles: {', '.join(PROFILES)}.",
    )
    reference = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8, "class": "code", "spellcheck": "false"}),
        help_text="Python with torch: def reference(inputs) returns the outputs by name.",
    )
    cos_min = forms.CharField(required=False, label="Cosine at least", initial="0.999", max_length=20)
    rel_max = forms.CharField(required=False, label="Relative error at most", initial="0.03", max_length=20)
    producers = forms.CharField(required=False, help_text="Separated by commas.")
    consumers = forms.CharField(required=False, help_text="Separated by commas.")
    levers = forms.CharField(required=False, help_text="Levers that touch this op, separated by commas.")
    dtype = forms.CharField(required=False, help_text="For the scope: the dtypes that matter, such as fp8.")
    m = forms.CharField(required=False, label="M", help_text="For the scope: 1, or a range such as 1..16.")
    reason = forms.CharField(required=False, max_length=1000, label="Why this change")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for question in questions():
            self.fields[f"q_{question['id']}"] = forms.ChoiceField(
                required=False,
                label=question["text"],
                help_text=question.get("why", ""),
                choices=[("", "not answered"), ("yes", "yes"), ("no", "no")],
            )

    def question_fields(self) -> list[forms.BoundField]:
        """The family questions, bound."""
        return [self[name] for name in self.fields if name.startswith("q_")]

    def plain_fields(self) -> list[forms.BoundField]:
        """Everything but the family questions."""
        return [self[name] for name in self.fields if not name.startswith("q_")]

    def _parse(self, field: str, read: Any) -> list[Any]:
        found = []
        for number, line in enumerate(_lines(self.cleaned_data.get(field, "")), 1):
            item = read(line)
            if item is None:
                self.add_error(field, f"Line {number} can't be read: {line[:80]}")
            else:
                found.append(item)
        return found

    def contract(self, family: str) -> dict[str, Any]:
        """The contract as typed; what can't be read is an error of its field."""
        data = self.cleaned_data
        axes = dict(self._parse("axes", _read_axis))
        scope = {"envelope": [data["envelope"]], "arch": [data["target"]]}
        if data["dtype"].strip():
            scope["dtype"] = _split(data["dtype"])
        if data["m"].strip():
            scope["m"] = data["m"].strip()
        return {
            "title": data["title"],
            "kind": data["kind"],
            "family": family,
            "answers": {name[2:]: data[name] for name in self.fields if name.startswith("q_") and data.get(name)},
            "axes": axes,
            "inputs": self._parse("inputs", _read_tensor),
            "outputs": self._parse("outputs", _read_tensor),
            "sharding": data["sharding"],
            "producers": _split(data["producers"]),
            "consumers": _split(data["consumers"]),
            "envelope": data["envelope"],
            "target": data["target"],
            "grid": data["grid"],
            "levers": _split(data["levers"]),
            "scope": scope,
            "reference": data["reference"].replace("\r\n", "\n"),
            "workloads": self._parse("workloads", _read_workload),
            "tolerance": {"cos_min": data["cos_min"], "rel_max": data["rel_max"]},
        }


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _read_axis(line: str) -> tuple[str, dict[str, Any]] | None:
    name, sign, value = (part.strip() for part in line.partition("="))
    if not re.fullmatch(r"\w+", name) or (sign and not value):
        return None
    return name, {"value": value} if sign else {"symbol": True}


def _read_tensor(line: str) -> dict[str, Any] | None:
    found = _TENSOR.match(line)
    if found is None:
        return None
    return {
        "name": found["name"],
        "shape": _split(found["shape"]),
        "dtype": found["dtype"] or "",
        "kind": found["kind"] or "",
        "layout": found["layout"] or "",
    }


def _read_workload(line: str) -> dict[str, Any] | None:
    found = _WORKLOAD.match(line)
    if found is None:
        return None
    axes = {}
    for part in found["axes"].replace(",", " ").split():
        name, sign, value = part.partition("=")
        if not sign:
            return None
        axes[name] = value
    return {"name": found["name"], "axes": axes, "profile": found["profile"] or ""}


def initial_of(contract: dict[str, Any]) -> dict[str, Any]:
    """A contract as the form shows it."""
    scope = contract["scope"]
    return {
        **{name: contract[name] for name in ("title", "kind", "envelope", "target", "grid", "sharding", "reference")},
        **{f"q_{name}": answer for name, answer in contract["answers"].items()},
        "axes": "\n".join(f"{n} = {a['value']}" if a["value"] else n for n, a in contract["axes"].items()),
        "inputs": "\n".join(_tensor_line(tensor) for tensor in contract["inputs"]),
        "outputs": "\n".join(_tensor_line(tensor) for tensor in contract["outputs"]),
        "workloads": "\n".join(
            f"{w['name']}: {' '.join(f'{n}={v}' for n, v in w['axes'].items())} @ {w['profile']}"
            for w in contract["workloads"]
        ),
        "cos_min": contract["tolerance"]["cos_min"],
        "rel_max": contract["tolerance"]["rel_max"],
        "producers": ", ".join(contract["producers"]),
        "consumers": ", ".join(contract["consumers"]),
        "levers": ", ".join(contract["levers"]),
        "dtype": ", ".join(scope.get("dtype", [])),
        "m": scope.get("m", ""),
    }


def _tensor_line(tensor: dict[str, Any]) -> str:
    return f"{tensor['name']} [{', '.join(tensor['shape'])}] {tensor['dtype']} {tensor['kind']} {tensor['layout']}"
