"""Template filters of evidence."""

from django import template
from django.utils.safestring import SafeString

from v2kb.core.markdown import render

register = template.Library()


@register.filter
def evidence_markdown(text: str) -> SafeString:
    """Markdown of a row's field as safe HTML; [[D3]] becomes a link."""
    return render(text)
