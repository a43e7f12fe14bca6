"""Words that name a kind of thing in front of what is looked for."""

import pytest

from v2kb.rules.search_kinds import NamedKind, named_kind


@pytest.mark.parametrize(
    ("text", "kind", "rest"),
    [
        ("family A", "families", "A"),
        ("spec S1", "specs", "S1"),
        ("Row d3", "evidence", "d3"),
        ("run R3fa29c", "runs", "R3fa29c"),
        ("lever warp-spec producer", "levers", "warp-spec producer"),
        ("experiment #3", "experiments", "3"),
        ("document house-rules", "sections", "house-rules"),
    ],
)
def test_the_first_word_names_the_kind(text, kind, rest):
    assert named_kind(text) == NamedKind(kind, rest)


@pytest.mark.parametrize("text", ["", "family", "specialised warps", "the spec S1", "spec:S1", "runs of S1", "op\n"])
def test_other_texts_name_none(text):
    assert named_kind(text) is None
