"""Ordinals of rows that each stand for several consecutive things, as formulas."""

import re
from collections.abc import Sequence

_WHOLE = re.compile(r"[0-9]+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def running_ordinals(slots: Sequence[str]) -> list[str]:
    """Return where each row begins when the rows stand one after the other from 0.

    `slots` are counts or formulas; equal formulas are counted together: STAGES, STAGES, ACC, 1 begin at 0, STAGES,
    2*STAGES and 2*STAGES + ACC. A formula stays as written; only its sum changes.
    """
    total, terms, result = 0, {}, []
    for text in slots:
        parts = [f"{times}*{term}" if times > 1 else term for term, times in terms.items()]
        result.append(" + ".join([*parts, str(total)] if total or not parts else parts))
        stripped = text.strip()
        if _WHOLE.fullmatch(stripped):
            total += int(stripped)
        else:
            term = stripped if _WORD.fullmatch(stripped) else f"({stripped})"
            terms[term] = terms.get(term, 0) + 1
    return result
