"""Bad input for the forms of kernels, and what every refusal must look like."""

import html

from django.apps import apps
from django.urls import reverse

SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
NUL = "a\x00b"
LONG = "x" * 100_000
HUGE_INT = "9" * 5000


def everything() -> dict[str, list]:
    models = apps.get_app_config("kernels").get_models()
    return {model._meta.label: list(model.objects.order_by("pk").values()) for model in models}


def refused(client, url, data, *, keeps: str = "", status=(422,), before=None) -> str:
    """Post `data`; it must be refused with words, the typed text shown again, and nothing written. The page."""
    before = before or everything()
    response = client.post(url, {"csrfmiddlewaretoken": "x", **data})
    page = response.content.decode()
    assert response.status_code in status, (response.status_code, {k: str(v)[:80] for k, v in data.items()})
    assert everything() == before
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert "Traceback" not in page
    if keeps:
        assert html.escape(keeps) in page or keeps in html.unescape(page), (
            f"{keeps[:60]!r} was lost of {str(data)[:200]}"
        )
    return page


def url(name, *args):
    return reverse(f"kernels:{name}", args=args)
