"""What pages that accept have in common."""

from django.http import HttpRequest

from v2kb.core.errors import Refusal


def conflict_of(request: HttpRequest) -> str:
    """The conflict of interest that the form names; empty where it states that there is none. Raises Refusal
    evidence.conflict_missing."""
    stated, named = request.POST.get("conflict", ""), request.POST.get("conflict_text", "").strip()
    if stated == "none" and not named:
        return ""
    if stated == "named" and named:
        return named
    raise Refusal(
        "evidence.conflict_missing",
        "The conflict is named, but it is marked as none."
        if stated == "none"
        else "Whether you have a conflict of interest is not said.",
        field="conflict",
        fix="State that you have none, or say what it is.",
    )
