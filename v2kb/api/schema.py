"""Last touches to the OpenAPI document: the one error form, and nothing that depends on the database in use."""

from typing import Any

from v2kb.api.keyed import HEADER, MAX_KEY_CHARS

TOKENS = "/api/v1/tokens/"
_TEXT_OR_NULL = {"type": "string", "nullable": True}
_PROBLEM = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "description": "Stable; docs/api.md lists them."},
        "message": {"type": "string"},
        "field": {**_TEXT_OR_NULL, "description": "Path of the field, such as choices[0].prediction.kill_percent."},
        "rule": _TEXT_OR_NULL,
        "fix": {**_TEXT_OR_NULL, "description": "What to do about it."},
    },
    "required": ["code", "message", "field", "rule", "fix"],
}
ERROR = {
    "type": "object",
    "description": "A refusal. Pages, API and workers show the same one.",
    "properties": {
        **_PROBLEM["properties"],
        "facts": {"type": "object", "additionalProperties": True},
        "problems": {
            "type": "array",
            "items": _PROBLEM,
            "description": "Every problem of the submission, where there are several.",
        },
    },
    "required": [*_PROBLEM["required"], "facts"],
}


# What a database calls the range of its integer columns is no promise of ours, and differs between databases.
COLUMN_RANGES = {32767, 2**31 - 1, 2**63 - 1, -32768, -(2**31), -(2**63)}


def forget_column_ranges(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Remove the ranges of integer columns from every integer."""
    _forget(result["components"]["schemas"])
    _forget(result["paths"])
    return result


def _forget(part: Any) -> None:
    if isinstance(part, dict):
        if part.get("type") == "integer":
            part.pop("format", None)
            for bound in ("minimum", "maximum"):
                if part.get(bound) in COLUMN_RANGES:
                    del part[bound]
        for value in part.values():
            _forget(value)
    elif isinstance(part, list):
        for value in part:
            _forget(value)


KEY = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "maxLength": MAX_KEY_CHARS},
    "description": "The same request of the same user with the same key is done once; its answer is given again.",
}


def add_key(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add the idempotency key to every POST that takes it: all but the making of a token."""
    for path, operations in result["paths"].items():
        if "post" in operations and path != TOKENS:
            operations["post"].setdefault("parameters", []).append(KEY)
    return result


def add_errors(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add the error form as the 4XX answer of every operation."""
    result["components"]["schemas"]["Error"] = ERROR
    answer = {
        "description": "Refused; nothing was written.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["4XX"] = answer
    return result
