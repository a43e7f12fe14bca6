"""Findings as SARIF 2.1.0, for code hosts and editors that show them beside the lines."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from v2kb.cli.files import STANDARD_INPUT
from v2kb.rules.rule_list import rule_documents
from v2kb.rules.spec_check import finding_word

VERSION = "2.1.0"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"E": "error", "W": "warning", "I": "note"}


def sarif(file: str, findings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One run over one file."""
    named = {finding["rule"] for finding in findings}
    rules = [_rule(rule) for rule in rule_documents() if rule["id"] in named]
    places = {rule["id"]: place for place, rule in enumerate(rules)}
    driver = {"name": "v2kb", "rules": rules}
    results = [_result(file, finding, places) for finding in findings]
    return {"$schema": SCHEMA, "version": VERSION, "runs": [{"tool": {"driver": driver}, "results": results}]}


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": rule["id"],
        "shortDescription": {"text": rule["title"]},
        "fullDescription": {"text": rule["formula"] or rule["title"]},
        "help": {"text": rule["source"]},
        "defaultConfiguration": {"level": _LEVELS[rule["severity"]]},
    }


def _result(file: str, finding: Mapping[str, Any], places: Mapping[str, int]) -> dict[str, Any]:
    uri = "stdin" if file == STANDARD_INPUT else quote(PurePath(file).as_posix())
    result = {
        "ruleId": finding["rule"],
        "level": _LEVELS[finding["severity"]],
        "message": {"text": f"{finding['message']} {finding['fix']}".strip()},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": finding["line"]}},
                "logicalLocations": [{"fullyQualifiedName": finding["path"]}],
            }
        ],
        "properties": {"kind": finding_word(finding), "version": finding["version"], "facts": finding["facts"]},
    }
    return result | ({"ruleIndex": places[finding["rule"]]} if finding["rule"] in places else {})
