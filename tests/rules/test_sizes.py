"""Sizes in words."""

import pytest

from v2kb.rules.sizes import MIB, size_text, too_much_text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(0, "0 bytes"), (1500, "1,500 bytes"), (MIB, "1 MiB"), (MIB * 3 // 2, "1.5 MiB"), (33 * MIB + 9, "33 MiB")],
)
def test_sizes(size_bytes, text):
    assert size_text(size_bytes) == text


def test_what_is_too_large_and_its_limit_never_look_alike():
    assert too_much_text("a.md", 6 * MIB, "a document", 5 * MIB) == "a.md has 6 MiB; a document may have 5 MiB."
    just = too_much_text("a.md", MIB + 1, "a map", MIB)
    assert just == "a.md has 1,048,577 bytes; a map may have 1,048,576."
