"""The raw samples of a run as a table."""

import csv
import io
from typing import Any

COLUMNS = ("workload", "round", "side", "position", "sample", "time_ns", "clock_mhz", "method")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def samples_csv(content: dict[str, Any]) -> str:
    """Every sample of a stored result in the order in which it was taken, one a line; `content` is a RunResult."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for timed in sorted(content["rounds"], key=lambda t: t["position"]):
        clocks = timed["clock_mhz"] or []
        for index, time_ns in enumerate(timed["samples_ns"]):
            table.writerow(
                [
                    _text(timed["workload"]),
                    timed["round"],
                    timed["side"],
                    timed["position"],
                    index,
                    time_ns,
                    clocks[index] if index < len(clocks) else "",
                    _text(timed["method"]),
                ]
            )
    return out.getvalue()


def _text(value: str) -> str:
    """Text that a spreadsheet will not run as a formula."""
    return f"'{value}" if value.startswith(FORMULA_STARTS) else value
