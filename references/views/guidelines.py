"""The page of measurement rules, contract steps and known gaps."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from references import selectors
from references.filtersets import GuidelineFilter
from references.links import look_up_links
from references.models import Guideline
from v2kb.core.markdown import render as render_markdown
from v2kb.core.views import render_part_or_page


@require_GET
def guideline_list(request: HttpRequest) -> HttpResponse:
    """Guidelines by kind, each with its text and the section it stands in."""
    filterset = GuidelineFilter(request.GET, queryset=selectors.list_guidelines())
    guidelines = list(filterset.qs if filterset.is_valid() else selectors.list_guidelines())
    look_up_links((guideline.text, guideline.document.path) for guideline in guidelines)
    shown = [
        {
            "guideline": guideline,
            "html": render_markdown(guideline.text, base=guideline.document.path),
            "url": selectors.section_url(guideline.document.slug, guideline.anchor) if guideline.anchor else "",
        }
        for guideline in guidelines
    ]
    groups = [
        {"kind": kind, "items": [item for item in shown if item["guideline"].kind == kind]} for kind in Guideline.Kind
    ]
    context = {
        "filter": filterset,
        "groups": [group for group in groups if group["items"]],
        "kinds": Guideline.Kind.choices,
    }
    return render_part_or_page(request, "references/guideline_list.html", context, part="list")
