"""Writing TOML, which the standard library only reads."""

import json


def quoted(text: str) -> str:
    """A text as TOML's basic string. JSON's is one, but for characters outside its escapes and for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
