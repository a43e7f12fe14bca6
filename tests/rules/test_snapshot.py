"""The snapshot of a repository: sealed, read again, refused when it is not as the server made it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.snapshot import FORMAT, SnapshotError, read_head, read_snapshot, sealed

LINES = [
    {"kind": "vocabulary", "aliases": {}, "causes": {}},
    {"kind": "lever", "slug": "ring", "name": "Ring\u2028of stages", "aliases": ["rings"]},
]


def text_of(lines=LINES) -> str:
    return "".join(sealed(lines, made_at="2026-11-29T10:00:00+00:00", change=7))


def test_what_was_sealed_is_read_again():
    head, lines = read_snapshot(text_of())
    assert (head.made_at, head.change, head.format) == ("2026-11-29T10:00:00+00:00", 7, FORMAT)
    assert (head.counts["lever"], head.counts["row"]) == (1, 0)
    assert lines == {"vocabulary": [LINES[0]], "lever": [LINES[1]]}


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: "", "first line"),
        (lambda text: "[]\n" + text, "begin with its head"),
        (lambda text: text.replace('"format":1', '"format":2'), "format 2"),
        (lambda text: text.replace('"change":7,', ""), "incomplete"),
        (lambda text: text.replace('"rings"', '"ringz"'), "hash differs"),
        (lambda text: text + '{"kind":"lever"}\n', "hash differs"),
        (lambda text: text[: text.rindex('{"aliases":["rings"]')], "hash differs"),
    ],
)
def test_what_was_changed_is_refused(damage, says):
    with pytest.raises(SnapshotError, match=says) as caught:
        read_snapshot(damage(text_of()))
    assert caught.value.fix


@given(st.text(max_size=200))
def test_no_first_line_breaks_the_reader(line):
    with pytest.raises(SnapshotError):
        read_head(line)


def test_a_line_separator_in_a_text_does_not_split_its_line():
    line = {"kind": "section", "text": "a\u2028b\u0085c\x0bd\re"}
    assert read_snapshot(text_of([line]))[1]["section"] == [json.loads(json.dumps(line))]
