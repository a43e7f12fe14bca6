"""Icons as inline SVG paths on a 16 x 16 grid: no font, no request, one stroke weight."""

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

PATHS = {
    "up": "M8 3.5 13 12H3z",
    "down": "M8 12.5 3 4h10z",
    "cross": "M4 4l8 8M12 4l-8 8",
    "check": "M3 8.5l3.5 3.5L13 4.5",
    "flag": "M4 14V2.5M4 3h8l-2 3 2 3H4",
    "ring": "M13 8A5 5 0 1 1 3 8a5 5 0 0 1 10 0z",
    "dot": "M13 8A5 5 0 1 1 3 8a5 5 0 0 1 10 0zM8 7.9v.2",
    "equal": "M3 6h10M3 10h10",
    "minus": "M3 8h10",
    "plus": "M8 3v10M3 8h10",
    "pause": "M5.5 3.5v9M10.5 3.5v9",
    "stop": "M4 4h8v8H4z",
    "play": "M5 3.5 12.5 8 5 12.5z",
    "ban": "M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM4.5 4.5l7 7",
    "bang": "M8 3v6M8 12.4v.2",
    "question": "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.4 8.6 8 9 8 10M8 12.8v.2",
    "clock": "M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM8 5v3.2l2 1.3",
    "pin": "M8 14v-4M5 10h6M6 2.5h4l-.5 4L11 10H5l1.5-3.5z",
    "pencil": "M3 13l.8-3L10.5 3.3l2.2 2.2L6 12.2z",
    "eye": "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 7.7a.3.3 0 1 1 0 .6",
    "comment": "M2.5 3.5h11v7.5H7.5L4.5 13.5V11h-2z",
    "layers": "M8 2.5 14 6 8 9.5 2 6zM2.5 9.5 8 12.8l5.5-3.3",
    "box": "M2.5 5h11v8.5h-11zM2 2.5h12V5H2zM6.5 8h3",
    "search": "M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM10 10l4 4",
    "user": "M10.5 5.5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0zM3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4",
    "keyboard": "M1.5 4h13v8.5h-13zM4 7h.1M7 7h.1M10 7h.1M12.5 7h.1M5 10h6",
    "info": "M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM8 7.5v3.5M8 5v.1",
    "warning": "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.8v.1",
    "chevron": "M4.5 6.5 8 10l3.5-3.5",
    "sort-up": "M4.5 9.5 8 6l3.5 3.5",
    "sort-down": "M4.5 6.5 8 10l3.5-3.5",
    "sort": "M5 6l3-3 3 3M5 10l3 3 3-3",
    "link": "M6.5 9.5l3-3M7 5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 9M9 11l-1.5 1.5a2.8 2.8 0 0 1-4-4L5 7",
    "turn": "M13 8a5 5 0 1 1-1.5-3.6M13 2.5V5h-2.5",
    "download": "M8 2.5v7.5M5 7.5 8 10.5l3-3M3 13.5h10",
}
FILLED = {"up", "down", "stop", "play"}


def icon_svg(name: str, label: str = "") -> SafeString:
    """Inline SVG for `name`; without a label it is decoration. KeyError for an unknown name."""
    css = "icon icon-fill" if name in FILLED else "icon"
    path = PATHS[name]
    if label:
        return format_html(
            '<svg class="{}" viewBox="0 0 16 16" role="img" aria-label="{}"><path d="{}"/></svg>',
            css,
            label,
            path,
        )
    return format_html(
        '<svg class="{}" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d="{}"/></svg>',
        css,
        mark_safe(path),
    )
