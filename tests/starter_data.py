"""Reading the starter data in tests: its files, and the evidence rows in its tables."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STARTER = ROOT / "v2kb" / "starter"
EVIDENCE_CODES = [f"D{n}" for n in range(1, 12)] + [f"W{n}" for n in range(1, 6)] + ["U1", "U2", "U3"]
VERDICTS = {"D": "DEAD", "W": "WIN", "U": "UNTESTED"}
TABLE_ROW = re.compile(r"^\|\s*([DWU]\d+)\s*\|(.*)\|\s*$", re.M)


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def starter_files(suffix):
    return sorted(STARTER.rglob(f"*{suffix}"))


def op_paths():
    return sorted((STARTER / "ops").glob("*.json"))


def evidence_rows(path):
    """Code -> row text of each evidence table in a markdown file; a code twice is an error."""
    found = TABLE_ROW.findall(path.read_text(encoding="utf-8"))
    assert len({code for code, _ in found}) == len(found), f"{path.name} has a code twice"
    return dict(found)


def our_rows():
    documents = STARTER / "documents"
    return evidence_rows(documents / "decode-evidence-map.md") | evidence_rows(documents / "cpu-probe-map.md")


def cells_of(code, rows):
    return [cell.strip() for cell in rows[code].split("|")]
