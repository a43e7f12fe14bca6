"""Error summaries: form errors and refusals as one list of problems with field, rule and fix."""

from typing import Any

from django.forms import BaseForm, BaseFormSet


def _form_problems(form: BaseForm) -> list[dict[str, Any]]:
    problems = []
    for name, errors in form.errors.as_data().items():
        bound = form[name] if name in form.fields else None
        lead = f"{bound.label}: " if bound else ""
        for error in errors:
            code = error.code if error.code and "." in error.code else ""
            problems.extend(
                {
                    "message": f"{lead}{message}",
                    "href": _first_control(bound),
                    "code": code,
                }
                for message in error.messages
            )
    return problems


def _first_control(bound: Any) -> str:
    if bound is None or not bound.auto_id:
        return ""
    return f"#{bound.auto_id}_0" if bound.use_fieldset else f"#{bound.id_for_label}"


def _refusal_problems(refusal: Any) -> list[dict[str, Any]]:
    found = getattr(refusal, "problems", None) or [refusal]
    return [
        {key: _part(one, key) for key in ("message", "rule", "fix", "code")}
        | {"label": _part(one, "field"), "href": ""}
        for one in found
    ]


def _part(one: Any, key: str) -> str:
    value = one.get(key) if isinstance(one, dict) else getattr(one, key, "")
    return str(value or "")


def problems_of(form: Any = None, refusal: Any = None, formset: BaseFormSet | None = None) -> list[dict[str, Any]]:
    """All problems of a bound form, a formset and a refusal: dicts with message, href, label, rule, fix, code."""
    problems = _refusal_problems(refusal) if refusal else []
    if isinstance(form, BaseForm) and form.is_bound:
        problems += _form_problems(form)
    if formset is not None and formset.is_bound:
        problems += [{"message": text} for text in formset.non_form_errors()]
        for one in formset.forms:
            problems += _form_problems(one)
    return problems
