"""The list of all spec rules, those that the gate implements by reference."""

from v2kb.rules.antiloop_rules import GATE_RULES
from v2kb.rules.canonical import canonical_json
from v2kb.rules.rule_list import ALL_RULES, GATE_REFERENCES, rule_documents
from v2kb.rules.spec_rules import RULES


def test_every_rule_is_listed_once_in_order():
    numbers = [*range(1, 17), *range(20, 39), *range(40, 54), *range(60, 80)]
    assert list(ALL_RULES) == [f"R{number:02}" for number in numbers]
    documents = rule_documents()
    assert [document["id"] for document in documents] == list(ALL_RULES)
    canonical_json(documents)


def test_the_gates_rules_are_referred_to_and_not_implemented_again():
    texts = {rule.id: rule.text for rule in GATE_RULES}
    assert [reference.id for reference in GATE_REFERENCES] == ["R60", "R61", "R62", "R63"]
    assert not {reference.id for reference in GATE_REFERENCES} & set(RULES)
    for document in rule_documents():
        assert set(document["gate"]) <= set(texts)
        assert bool(document["gate"]) == (document["id"] in ("R60", "R61", "R62", "R63"))
        assert all(texts[gate] in document["formula"] for gate in document["gate"])
        assert document["severity"] in ("E", "W", "I")
        assert document["version"] >= 1
        assert bool(document["note"]) == (document["id"] == "R63")


def test_a_gate_rule_that_is_not_there_is_named_only_beside_the_one_that_does_its_work():
    (r63,) = [document for document in rule_documents() if document["id"] == "R63"]
    assert "AL9" not in {rule.id for rule in GATE_RULES}
    assert r63["gate"] == ["AL4"]
    assert "AL9" in r63["note"]
