"""Trips of warps, the achievable floor, task counts and columns of tensor memory."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.calculators.entry import MAX_NUMBER, MISSING, TOO_LARGE, TOO_SMALL, UNREADABLE, Entry
from v2kb.rules.numbers import read_decimal
from v2kb.rules.tmem import COLUMNS, TmemObject, layout, valid_allocation
from v2kb.rules.tmem_rules import draw_layout
from v2kb.rules.wave_quant import FIELDS as WAVE_FIELDS
from v2kb.rules.wave_quant import MAY_WIN, TIE, wave_quant

REVERSED, PEAK = "reversed", "peak_bandwidth"
BANDWIDTH_LOW_TB_S, BANDWIDTH_HIGH_TB_S = "2.0", "3.4"
BANDWIDTH_SOURCE = "ffn_item1_spec section 0; m1-decode-evidence section 4 (achievable, never the theoretical peak)"
PEAK_TB_S = Decimal(8)
MIN_TB_S, MAX_TB_S = Decimal("0.001"), Decimal(1000)
BYTES_OF = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
TMEM_ROW = {
    "name": shape.text(100),
    "slots": shape.formula(blank="1"),
    "columns": shape.formula(),
    "start": shape.formula(),
}


def wave_quantisation(given: Any) -> dict[str, Any]:
    """Return whether more warps per task save a trip (rule R65), from items, tasks, old_warps and new_warps.

    `result` has the four numbers, old_trips, new_trips, outcome (may_win, tie, more_trips) and a message.
    """
    entry = Entry(given, dict.fromkeys(WAVE_FIELDS, shape.formula()))
    numbers = {name: entry.whole(name, entry.values[name]) for name in WAVE_FIELDS}
    if any(number is None for number in numbers.values()):
        return entry.answer(None)
    trips = wave_quant(**numbers)
    said = {MAY_WIN: "A trip is saved, so it may win.", TIE: "A tie, so a regression is predicted."}
    return entry.answer(
        {
            **numbers,
            "old_trips": trips.old_trips,
            "new_trips": trips.new_trips,
            "outcome": trips.outcome,
            "message": f"{numbers['items']:,} items over {numbers['tasks']:,} tasks take {trips.old_trips:,} trips "
            f"with {numbers['old_warps']:,} warps and {trips.new_trips:,} with {numbers['new_warps']:,}. "
            + said.get(trips.outcome, "More trips than before."),
        }
    )


def achievable_floor(given: Any) -> dict[str, Any]:
    """Return the time that moving `bytes` takes at an achievable bandwidth from `low_tb_s` to `high_tb_s`.

    `bytes` is a formula, or a number with a unit (31.5 MB; MiB is 2**20). Bandwidths are in TB/s (10**12 bytes a
    second) and default to the band measured for M=1 weight streams. `result` has bytes, the band, low_us and high_us as
    decimal text, the source of the band and a message. Both are lower bounds, not predictions. A band that reaches the
    theoretical peak is a problem too (R69), beside the result.
    """
    text = shape.text(400)
    entry = Entry(given, {"bytes": text, "low_tb_s": shape.decimal(), "high_tb_s": shape.decimal()})
    moved = _bytes(entry, entry.values["bytes"])
    low_text = entry.values["low_tb_s"] or BANDWIDTH_LOW_TB_S
    high_text = entry.values["high_tb_s"] or BANDWIDTH_HIGH_TB_S
    low, high = _bandwidth(entry, "low_tb_s", low_text), _bandwidth(entry, "high_tb_s", high_text)
    if low is not None and high is not None and low > high:
        entry.add(REVERSED, "high_tb_s", "The band ends below its start.", "Swap the two.")
        high = None
    if moved is None or low is None or high is None:
        return entry.answer(None)
    default = (Decimal(low_text), Decimal(high_text)) == (Decimal(BANDWIDTH_LOW_TB_S), Decimal(BANDWIDTH_HIGH_TB_S))
    fast, slow = (Decimal(moved) / (rate * 10**6) for rate in (high, low))
    return entry.answer(
        {
            "bytes": moved,
            "low_tb_s": low_text,
            "high_tb_s": high_text,
            "low_us": _rounded(fast),
            "high_us": _rounded(slow),
            "source": BANDWIDTH_SOURCE if default else "given here",
            "message": f"{moved:,} B at {low_text} to {high_text} TB/s take at least {_rounded(fast)} to "
            f"{_rounded(slow)} us.",
        }
    )


def _bytes(entry: Entry, text: str) -> int | None:
    amount, _, unit = text.rpartition(" ")
    if unit in BYTES_OF and amount:
        number = read_decimal(amount.strip())
        if number is not None:
            if not 0 < number <= MAX_NUMBER:
                entry.add(TOO_SMALL, "bytes", f"{text} is out of range.", "Write a positive amount, such as 31.5 MB.")
                return None
            return int(Decimal(number) * BYTES_OF[unit])
        text = f"({amount})*{BYTES_OF[unit]}"
    return entry.whole("bytes", text)


def _bandwidth(entry: Entry, field: str, text: str) -> Decimal | None:
    number = read_decimal(text)
    if number is None:
        entry.add(UNREADABLE, field, f'"{text[:40]}" is not a number.', "Write TB/s, such as 2.5.")
    elif not MIN_TB_S <= number <= MAX_TB_S:
        message = f"{text} TB/s is out of range."
        entry.add(TOO_SMALL if number < 1 else TOO_LARGE, field, message, f"Write {MIN_TB_S} to {MAX_TB_S:,} TB/s.")
    else:
        if number >= PEAK_TB_S:
            message = f"{text} TB/s is the theoretical peak or more; a floor from it is refused (R69)."
            entry.add(PEAK, field, message, "Take what a load-only kernel of the same grid reaches.")
        return Decimal(number)
    return None


def _rounded(value: Decimal) -> str:
    return f"{value:.2f}" if value >= Decimal("0.1") else f"{value:.3g}"


def task_count(given: Any) -> dict[str, Any]:
    """Return the number of tasks that `num_tasks` gives (rule R40), compared with `listed` where that is given.

    `result` has tasks, listed (None where blank), agrees and a message.
    """
    entry = Entry(given, {"num_tasks": shape.formula(), "listed": shape.formula()})
    text = entry.values["num_tasks"]
    tasks = entry.whole("num_tasks", text)
    listed = entry.whole("listed", entry.values["listed"]) if entry.values["listed"] else None
    if tasks is None or (entry.values["listed"] and listed is None):
        return entry.answer(None)
    agrees = listed is None or listed == tasks
    message = f"{text} gives {tasks:,} {'task' if tasks == 1 else 'tasks'}"
    message += "." if listed is None else f"; {listed:,} are listed{'.' if agrees else ', which is another number.'}"
    return entry.answer({"tasks": tasks, "listed": listed, "agrees": agrees, "message": message})


def tmem_columns(given: Any) -> dict[str, Any]:
    """Return the columns of `objects` (name, slots, columns, start; a blank start follows the row before).

    `alloc_columns` may say what is allocated. `result` is the picture of `tmem_rules.draw_layout` and a message.
    """
    rows = shape.rows(shape.record(TMEM_ROW), 32)
    entry = Entry(given, {"objects": rows, "alloc_columns": shape.formula()})
    if not entry.values["objects"]:
        entry.add(MISSING, "objects", "No object is listed.", "Add an accumulator with its slots and columns.")
    objects = [_tmem_object(entry, f"objects[{i}]", row, i) for i, row in enumerate(entry.values["objects"])]
    text = entry.values["alloc_columns"]
    alloc = entry.whole("alloc_columns", text) if text else None
    if entry.problems:
        return entry.answer(None)
    plan = layout([item for item in objects if item is not None])
    message = f"{plan.need:,} columns are needed"
    if plan.alloc is None:
        message += f", more than the {COLUMNS} that there are."
        entry.add(TOO_LARGE, "objects", message[0].upper() + message[1:], "Use fewer slots or a narrower tile.")
    else:
        message += f", so {plan.alloc} are allocated."
    if alloc is not None and not valid_allocation(alloc):
        entry.add(UNREADABLE, "alloc_columns", f"{alloc:,} can't be allocated.", "Use 32, 64, 128, 256 or 512.")
    elif alloc is not None and alloc < plan.need:
        entry.add(TOO_SMALL, "alloc_columns", f"{alloc:,} don't hold {plan.need:,} columns.", "Allocate more.")
    for clash in draw_layout(plan, alloc)["overlaps"]:
        names = " and ".join(clash["names"])
        message += f" {names} overlap in columns {clash['first']} to {clash['last']}."
    return entry.answer({**draw_layout(plan, alloc), "message": message})


def _tmem_object(entry: Entry, path: str, row: Mapping[str, str], index: int) -> TmemObject | None:
    slots = entry.whole(f"{path}.slots", row["slots"], most=COLUMNS)
    columns = entry.whole(f"{path}.columns", row["columns"], most=COLUMNS)
    start = entry.whole(f"{path}.start", row["start"], least=0, most=COLUMNS - 1) if row["start"] else None
    if slots is None or columns is None:
        return None
    return TmemObject(row["name"] or f"Object {index + 1}", slots, columns, start)
