"""Pre-registration: what was predicted, what must be exceeded, and what counts as nothing, before the first
sample.

Rules AL5 to AL7 and the verdict share this reading of a choice's prediction (measurement page, section 4).
Percentages are of the cost: a gain of 5% means ln(1 - 0.05) in log units. A higher-is-better metric is
judged on its reciprocal, so that a rate and its time give the same verdict. `prediction_reading` reads one.
"""

import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from v2kb.rules.stats import LEVEL
from v2kb.rules.units import trim_decimal


@dataclass(frozen=True)
class Threshold:
    """A change that is called for: `percent` of the anchor, or an `absolute` amount in the prediction's
    unit.
    """

    percent: Decimal | None = None
    absolute: Decimal | None = None

    def log(self, anchor_value: float | None = None) -> float | None:
        """Return |ln(1 - share)|, or None when an absolute amount lacks its anchor or takes all of it.

        `anchor_value` is the anchor's measured value in the prediction's unit.
        """
        if self.percent is not None:
            share = float(self.percent) / 100
        elif self.absolute is not None and anchor_value is not None and anchor_value > 0:
            share = float(self.absolute) / anchor_value
        else:
            return None
        return -math.log1p(-share) if 0 <= share < 1 else None

    def text(self, unit: str) -> str:
        """Return "3%" or "0.3 ms"."""
        if self.percent is not None:
            return f"{trim_decimal(self.percent)}%"
        return f"{trim_decimal(self.absolute)} {unit}" if self.absolute is not None else "none"


@dataclass(frozen=True, slots=True)
class Band:
    """Where one part of the work (`what`, such as "W13 body") is predicted to land, in `unit`."""

    what: str
    low: Decimal
    high: Decimal
    unit: str

    def as_document(self) -> dict[str, str]:
        """Return the band as it is sealed."""
        return {"what": self.what, "low": _text(self.low), "high": _text(self.high), "unit": self.unit}


@dataclass(frozen=True)
class Prereg:
    """A valid pre-registration. `kill` None: the kill is an event alone, and no number can be judged
    against it.
    """

    metric: str
    unit: str
    direction: str
    anchor: str
    tier: int
    gain: Threshold
    gain_high: Threshold | None
    kill: Threshold | None
    delta_percent: Decimal
    cases: tuple[str, ...]
    rounds: int
    looks: int = 1
    row: str = ""
    kill_event: str = ""
    budget_runs: int | None = None
    deadline: date | None = None
    park_metric: str = ""
    park_percent: Decimal | None = None
    bands: tuple[Band, ...] = ()

    @property
    def level(self) -> float:
        """Confidence level of one look: the error of 5% is split over the registered looks."""
        return 1 - (1 - LEVEL) / self.looks

    @property
    def equivalence_level(self) -> float:
        """Level of the interval that shows equivalence: twice the error of `level` (90% for one look)."""
        return 1 - 2 * (1 - self.level)

    @property
    def margin(self) -> float:
        """Return delta in log units."""
        return -math.log1p(-float(self.delta_percent) / 100)

    def bar(self, anchor_value: float | None = None) -> float | None:
        """Return k = -|ln(1 - K)|, or None when no number was registered or an absolute one lacks its
        anchor.
        """
        log = self.kill.log(anchor_value) if self.kill else None
        return None if log is None else -log

    def prediction(self, anchor_value: float | None = None) -> tuple[float, float] | None:
        """Return the predicted log ratios (least gain, most gain), both negative; equal when P is one
        value.
        """
        least = self.gain.log(anchor_value)
        most = self.gain_high.log(anchor_value) if self.gain_high else least
        return None if least is None or most is None else (-least, -most)

    def allowed_rounds(self) -> tuple[int, ...]:
        """Return the numbers of rounds at which a look was registered."""
        return tuple(self.rounds * look for look in range(1, self.looks + 1))

    def as_document(self) -> dict[str, Any]:
        """Return the canonical document that is sealed and hashed."""
        return {
            "row": self.row,
            "metric": self.metric,
            "unit": self.unit,
            "direction": self.direction,
            "anchor": self.anchor,
            "tier": str(self.tier),
            "gain_percent": _text(self.gain.percent),
            "gain_absolute": _text(self.gain.absolute),
            "gain_high_percent": _text(self.gain_high.percent if self.gain_high else None),
            "kill_percent": _text(self.kill.percent if self.kill else None),
            "kill_absolute": _text(self.kill.absolute if self.kill else None),
            "kill_event": self.kill_event,
            "delta_percent": _text(self.delta_percent),
            "cases": sorted(self.cases),
            "rounds": str(self.rounds),
            "looks": str(self.looks),
            "budget_runs": "" if self.budget_runs is None else str(self.budget_runs),
            "deadline": self.deadline.isoformat() if self.deadline else "",
            "park_metric": self.park_metric,
            "park_percent": _text(self.park_percent),
            "bands": [band.as_document() for band in self.bands],
        }


def _text(value: Decimal | None) -> str:
    return "" if value is None else trim_decimal(value)
