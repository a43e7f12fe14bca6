"""What the OpenAPI document says of errors: every operation may answer with the one error form."""

from typing import Any

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
