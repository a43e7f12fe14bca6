"""Samples of timed runs in CSV: one line per launch, with the columns below; what is wrong names line and column."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal

from v2kb.cli.exits import CliError
from v2kb.cli.files import read_text
from v2kb.rules.numbers import read_decimal
from v2kb.rules.session import RunSamples
from v2kb.rules.units import TIME_UNITS_NS

TIMES = {f"time_{unit}": factor for unit, factor in TIME_UNITS_NS.items()}
COLUMNS = "round, time_ns (or time_us, time_ms, time_s), and where they apply workload, position, side"
ONE_WORKLOAD = "all"
MAX_BYTES = 256 * 1024 * 1024
MAX_ROUND = 10**6
MAX_NS = 10**15


def read_samples(file: str, side: str) -> list[RunSamples]:
    """The runs of one side. A file with a column `side` may hold both; lines of the other side are passed over.

    Times become whole nanoseconds. Raises CliError.
    """
    taken: dict[tuple[str, int], list[int]] = defaultdict(list)
    positions: dict[tuple[str, int], int] = {}
    lines = 0
    for number, row in _rows(file):
        lines += 1
        if (row.get("side") or side) != side:
            continue
        run = (row.get("workload") or ONE_WORKLOAD, _whole(file, number, "round", row["round"]))
        taken[run].append(_time(file, number, row))
        if row.get("position"):
            place = _whole(file, number, "position", row["position"])
            positions[run] = min(place, positions.get(run, place))
    if not taken:
        why = f"none of its {lines} lines is of the side {side}" if lines else "there is no line below the header"
        raise CliError(f"{file}: {why}.", "Give one line per launch.")
    return [
        RunSamples(number, side, workload, tuple(times), positions.get((workload, number)))
        for (workload, number), times in taken.items()
    ]


def _rows(file: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    table = csv.reader(read_text(file, MAX_BYTES).splitlines(keepends=True), strict=True)
    header: list[str] = []
    try:
        for cells in table:
            if not any(map(str.strip, cells)):
                continue
            if not header:
                header = [cell.strip().casefold() for cell in cells]
                _check_header(file, table.line_num, header)
            elif len(cells) != len(header):
                message = f"{file}:{table.line_num}: {len(cells)} cells under {len(header)} columns."
                raise CliError(message, "Give each line one cell per column.")
            else:
                yield table.line_num, dict(zip(header, map(str.strip, cells), strict=True))
    except csv.Error as error:
        raise CliError(f"{file}:{table.line_num}: this is no CSV: {error}.", "Separate cells by commas.") from None
    if not header:
        raise CliError(f"{file}: there is nothing in it.", f"Its columns are {COLUMNS}.")


def _check_header(file: str, line: int, header: list[str]) -> None:
    times = [name for name in header if name in TIMES]
    why = ""
    if "round" not in header:
        why = 'there is no column "round"'
    elif len(times) != 1:
        why = f"{len(times) or 'no'} columns hold a time" if times else "no column holds a time"
    elif len(set(header)) != len(header):
        why = "a column stands there twice"
    if why:
        shown = ", ".join(name[:20] for name in header[:12])
        raise CliError(f"{file}:{line}: {why}; found {shown}.", f"The columns are {COLUMNS}.")


def _whole(file: str, line: int, column: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or int(text) > MAX_ROUND:
        message = f'{file}:{line}: column {column}: "{text[:40]}" is no whole number up to {MAX_ROUND:,}.'
        raise CliError(message, "Count rounds from 0 or 1, the same for both sides.")
    return int(text)


def _time(file: str, line: int, row: Mapping[str, str]) -> int:
    (column,) = (name for name in row if name in TIMES)
    value = read_decimal(row[column])
    nanoseconds = None if value is None else round(Decimal(value) * TIMES[column])
    if nanoseconds is None or not 0 < nanoseconds < MAX_NS:
        message = f'{file}:{line}: column {column}: "{row[column][:40]}" is no time above 0.'
        raise CliError(message, "Give the time of one launch, of a nanosecond or more.")
    return nanoseconds
