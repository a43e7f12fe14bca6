"""The documentation does not lag behind: settings, commands, codes that pages name."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_every_setting_is_documented_and_no_other():
    code = (ROOT / "v2kb" / "settings.py").read_text()
    up = (ROOT / "v2kb/core/management/commands/up.py").read_text()
    worker = (ROOT / "v2kb/worker/settings.py").read_text()
    used = set(re.findall(r'"(V2KB_[A-Z_]+)"', code + up + worker))
    documented = set(re.findall(r"^\| `(V2KB_[A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text(), re.M))
    assert used - documented == set()
    assert documented - used == set()


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make ([a-z-]+)", (ROOT / "README.md").read_text(), re.M):
        assert re.search(rf"^{target}:", makefile, re.M), target
