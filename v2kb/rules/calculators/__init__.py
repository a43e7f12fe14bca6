"""Small sums of a design, without a spec.

Each takes what a person typed (fields of text, `symbols` a mapping of names to formulas) and returns plain values:
`result` (None where something is missing) and `problems`, each with a code, a field, a message and a fix. None of them
raises for values that JSON can hold.
"""

from collections.abc import Callable
from typing import Any

from v2kb.rules.calculators.planner import smem_plan
from v2kb.rules.calculators.sums import achievable_floor, task_count, tmem_columns, wave_quantisation

CALCULATORS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "smem-planner": smem_plan,
    "wave-quantisation": wave_quantisation,
    "achievable-floor": achievable_floor,
    "task-count": task_count,
    "tmem-columns": tmem_columns,
}
