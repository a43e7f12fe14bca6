"""How the tests of spec rules change a document and read what is found in it."""

import copy

from v2kb.rules.spec_rules import check_spec


def changed(doc, **edits):
    """A copy of `doc` with values set at paths, written with __ between parts: smem__regions__0__size_bytes."""
    result = copy.deepcopy(doc)
    for path, value in edits.items():
        *parents, last = path.split("__")
        place = result
        for part in parents:
            place = place[int(part)] if part.isdigit() else place[part]
        if last.isdigit():
            place[int(last)] = value
        else:
            place[last] = value
    return result


def found(doc, rule, kind="violation", **options):
    """What `rule` finds of that kind, alone or with others."""
    return [f for f in check_spec(doc, **options) if rule in (f.rule, *f.also) and f.kind == kind]
