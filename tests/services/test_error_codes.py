"""docs/errors.md lists every error code of the product with its status, and no other."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from rest_framework.exceptions import APIException

from v2kb.api import parsers  # noqa: F401  (its exceptions count)

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = re.compile(r"[a-z]+(?:\.[a-z0-9_]+)+\Z")
STATUS = {"Refusal": 422, "Forbidden": 403, "Missing": 404, "Conflict": 409}
# Callable -> place of the code among its arguments, for helpers that raise, or that lead to a refusal.
HELPERS = {
    "refuse_problems": (0, 422),
    "archive": (2, 409),
    "restore": (2, 409),
    "move": (2, 409),
    "require_move": (2, 409),
    "find": (1, 404),
    "error": (0, None),
    "ArchiveRefused": (0, None),
    "DocumentRefused": (0, None),
    "TypingRefused": (0, None),
    "RefusedFile": (1, None),
    "MapProblem": (2, None),
    "_name": (2, None),
    "_problem": (0, None),
}
# Where a refusal gets its code from a variable: every one of these is covered by HELPERS, or below.
PASSED_ON = {
    ("evidence/importers/load.py", "error.code"),
    ("evidence/importers/load.py", "line.code"),
    ("evidence/services/decisions.py", "f'evidence.{reasons[0].code}'"),
    ("evidence/services/levers.py", "code"),
    ("v2kb/api/errors.py", "code"),
    ("v2kb/core/archiving.py", "code"),
    ("v2kb/core/errors.py", "code"),
    ("v2kb/core/moves.py", "code"),
    ("v2kb/core/guards/errors.py", "found.group(1)"),
    ("v2kb/core/rest.py", "code"),
}
# The view answers with another status than its refusal has.
ANSWERED_WITH = {"api.no_such_address": {404}}
ROW = re.compile(r"^\| `([a-z0-9_.]+)` \| ([0-9, ]+|–) \| [^|]+ \| [^|]+ \| [^|]+ \|$", re.M)


def product_files() -> list[Path]:
    """Modules of the product; rules refuse nothing by code, and the style guide's examples are no errors."""
    return [
        path
        for top in ("evidence", "references", "kernels", "v2kb")
        for path in sorted((ROOT / top).rglob("*.py"))
        if not {"migrations", "rules"} & set(path.parts) and path.name != "styleguide.py"
    ]


def text_of(node: ast.AST | None, constants: dict[str, str]) -> str:
    """The text that a literal, or a name of this module, stands for; empty for anything else."""
    value = constants.get(node.id) if isinstance(node, ast.Name) else getattr(node, "value", None)
    return value if isinstance(value, str) else ""


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


class Codes:
    """What the code holds: code -> statuses (None where a helper decides), and refusals whose code is no literal."""

    def __init__(self) -> None:
        self.found: dict[str, set[int | None]] = defaultdict(set)
        self.passed_on: set[tuple[str, str]] = set()
        for path in product_files():
            self._read(path)
        self._read_guards()
        self._read_reasons()
        self._read_api()

    def _read(self, path: Path) -> None:
        tree = ast.parse(path.read_text())
        constants = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._read_call(node, constants, str(path.relative_to(ROOT)))
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if text_of(key, {}) == "code" and CODE.match(text_of(value, constants)):
                        self.found[text_of(value, constants)].add(None)

    def _read_call(self, node: ast.Call, constants: dict[str, str], place: str) -> None:
        name, keywords = called(node), {keyword.arg: keyword.value for keyword in node.keywords}
        if name in STATUS:
            status = keywords.get("status")
            if not node.args:
                return
            code = text_of(node.args[0], constants)
            if code:
                self.found[code].add(status.value if isinstance(status, ast.Constant) else STATUS[name])
            else:
                self.passed_on.add((place, ast.unparse(node.args[0])))
        elif name in HELPERS and len(node.args) > HELPERS[name][0]:
            index, status = HELPERS[name]
            code = text_of(node.args[index], constants)
            if CODE.match(code):
                self.found[code].add(status)
        if name == "ErrorDetail":
            self.found[f"api.{text_of(node.args[1], constants)}"].add(None)
        code = text_of(keywords.get("code"), constants)
        if CODE.match(code):
            self.found[code].add(409 if name == "TriggerGuard" else None)

    def _read_guards(self) -> None:
        """The code of tables whose rows never change stands in the text that their trigger raises."""
        registry = (ROOT / "v2kb/core/guards/registry.py").read_text()
        for code in re.findall(r"v2kb:([a-z_]+\.[a-z_]+):", registry):
            self.found[code].add(409)

    def _read_reasons(self) -> None:
        """Why a person may not accept a proposal: reasons of the rule, with "evidence." in front."""
        tree = ast.parse((ROOT / "v2kb/rules/evidence_change.py").read_text())
        rule = next(node for node in tree.body if getattr(node, "name", "") == "may_accept")
        reasons = [node for node in ast.walk(rule) if isinstance(node, ast.Call) and called(node) == "Reason"]
        assert reasons
        for reason in reasons:
            self.found[f"evidence.{text_of(reason.args[0], {})}"].add(403)

    def _read_api(self) -> None:
        """Codes of the REST framework, with "api." in front, and those that our handler names itself."""
        kinds = {kind for base in APIException.__subclasses__() for kind in (base, *base.__subclasses__())}
        for kind in kinds:
            if kind.__module__.startswith(("rest_framework.exceptions", "v2kb.")):
                self.found[f"api.{kind.default_code}"].add(kind.status_code)
        handler = (ROOT / "v2kb/api/errors.py").read_text()
        for code in re.findall(r'code, message = "(api\.[a-z_]+)"', handler):
            self.found[code].add(None)


def documented() -> dict[str, set[int]]:
    page = (ROOT / "docs" / "errors.md").read_text()
    rows = ROW.findall(page)
    codes = [code for code, _ in rows]
    assert len(codes) == len(set(codes)), "a code has two lines"
    assert len(rows) == len(re.findall(r"^\| `", page, re.M)), "a line of a table has another form"
    return {code: {int(status) for status in cell.split(",") if status.strip().isdigit()} for code, cell in rows}


def test_the_page_lists_every_code_and_no_other():
    found, page = Codes().found, documented()
    assert len(found) > 150
    assert set(found) - set(page) == set(), "codes that docs/errors.md lacks"
    assert set(page) - set(found) == set(), "codes that nothing raises any more"


def test_the_page_tells_the_status():
    page = documented()
    wrong = {}
    for code, statuses in Codes().found.items():
        known = ANSWERED_WITH.get(code) or {status for status in statuses if status is not None}
        said = page[code]
        if known - said or (None not in statuses and said != known):
            wrong[code] = (sorted(said), sorted(known))
    assert wrong == {}


def test_no_refusal_takes_its_code_from_somewhere_unknown():
    assert Codes().passed_on - PASSED_ON == set(), "add the helper to HELPERS, so that its codes are seen"
    assert PASSED_ON - Codes().passed_on == set()


def test_every_code_is_of_one_form():
    assert [code for code in Codes().found if not CODE.match(code)] == []
