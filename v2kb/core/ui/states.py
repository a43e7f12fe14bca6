"""How each state of the vocabulary looks: a tone, a glyph and the word itself (never colour alone).

One table for all pages. `look(value, kind)` tries "kind:value" first, so that a word that means two things
(an open proposal, an open finding) can look like what it is.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Look:
    """Tone is one of good, bad, warn, info, none, open; icon a name of ui.icons; label the shown word."""

    tone: str
    icon: str
    label: str


_TABLE = {
    # row verdicts and history verdicts, judgements
    "dead": ("bad", "cross"),
    "win": ("good", "up"),
    "untested": ("open", "ring"),
    "null": ("none", "equal"),
    "regress": ("bad", "down"),
    "parked": ("warn", "pause"),
    "killed": ("bad", "stop"),
    "inconclusive": ("warn", "question"),
    "invalid": ("bad", "ban"),
    # proposals
    "proposal:open": ("info", "dot"),
    "accepted": ("good", "check"),
    "rejected": ("bad", "cross"),
    "withdrawn": ("none", "minus"),
    "superseded": ("none", "layers"),
    # waivers
    "asked": ("info", "question"),
    "agreed": ("good", "check"),
    "refused": ("bad", "cross"),
    # anchors
    "unverified": ("open", "question"),
    "pinned": ("good", "pin"),
    "stale": ("warn", "clock"),
    # polarity of a choice
    "adopts": ("info", "plus"),
    "avoids": ("none", "ban"),
    "keeps": ("none", "equal"),
    "defers": ("warn", "pause"),
    # specs
    "draft": ("open", "pencil"),
    "in review": ("info", "eye"),
    "approved to build": ("good", "check"),
    "verdict-ready": ("good", "flag"),
    "stopped": ("none", "stop"),
    "archived": ("none", "box"),
    # stages that an op has reached
    "0 load": ("open", "ring"),
    "1 spec": ("info", "pencil"),
    "2 implement": ("info", "plus"),
    "4 validate": ("info", "check"),
    "5 perf": ("info", "flag"),
    "6 review": ("good", "check"),
    # positions
    "approve": ("good", "check"),
    "no objection": ("none", "check"),
    "discuss": ("warn", "comment"),
    "recuse": ("none", "minus"),
    # stances of citations
    "supports": ("good", "plus"),
    "contradicts": ("bad", "minus"),
    "context": ("none", "link"),
    # runs
    "queued": ("open", "clock"),
    "claimed": ("info", "dot"),
    "running": ("info", "play"),
    "finished": ("none", "check"),
    "cancelled": ("none", "ban"),
    "pass": ("good", "check"),
    "fail_numeric": ("bad", "cross"),
    "fail_shape": ("bad", "cross"),
    "compile_error": ("bad", "bang"),
    "compile_timeout": ("bad", "clock"),
    "wedge": ("bad", "pause"),
    "ima": ("bad", "bang"),
    "misaligned": ("bad", "bang"),
    "timeout": ("bad", "clock"),
    "crashed": ("bad", "bang"),
    "oom": ("bad", "bang"),
    "decode_failed": ("bad", "bang"),
    "tampered": ("bad", "ban"),
    "invalid_reference": ("warn", "question"),
    "no_cases": ("warn", "ring"),
    "no_data": ("warn", "ring"),
    "infra": ("warn", "warning"),
    # dispositions and grades
    "ship": ("good", "up"),
    "kill": ("bad", "stop"),
    "park": ("warn", "pause"),
    "none": ("none", "minus"),
    "decides": ("info", "flag"),
    "corroborates": ("none", "plus"),
    "diagnostic": ("open", "eye"),
    # rungs and gate rules
    "fail": ("bad", "cross"),
    "missing": ("open", "ring"),
    "not_applicable": ("none", "minus"),
    "pending": ("warn", "clock"),
    "satisfied": ("good", "check"),
    "unsatisfied": ("bad", "cross"),
    "overridden": ("warn", "flag"),
    "error": ("bad", "bang"),
    # findings and severities
    "finding:open": ("warn", "dot"),
    "waived": ("none", "flag"),
    "fixed": ("good", "check"),
    "severity:e": ("bad", "cross"),
    "severity:w": ("warn", "warning"),
    "severity:i": ("none", "info"),
    "blocks": ("bad", "cross"),
    "warns": ("warn", "warning"),
    "informs": ("none", "info"),
    # open questions of a spec
    "resolved": ("good", "check"),
    "frozen": ("none", "stop"),
    "open": ("info", "dot"),
    # workers and services
    "online": ("good", "check"),
    "idle": ("good", "check"),
    "busy": ("info", "play"),
    "offline": ("bad", "cross"),
    "lost": ("bad", "question"),
    "quarantined": ("warn", "pause"),
    "ok": ("good", "check"),
    "down": ("bad", "cross"),
    "off": ("none", "minus"),
    # imports
    "new": ("info", "plus"),
    "changed": ("warn", "pencil"),
    "unchanged": ("none", "equal"),
    "unreadable": ("bad", "question"),
    "skipped": ("none", "minus"),
    "import:reading": ("info", "play"),
    "import:checking": ("info", "play"),
    "import:importing": ("info", "play"),
    "import:waits for its mapping": ("open", "clock"),
    "import:waits for its import": ("open", "clock"),
    "import:done": ("good", "check"),
    "import:failed": ("bad", "cross"),
}

_LABELS = {
    "severity:e": "blocks",
    "severity:w": "warns",
    "severity:i": "informs",
    "not_applicable": "not applicable",
    "skipped": "left out",
}


def look(value: object, kind: str = "") -> Look:
    """Look of a state word in any case; an unknown word is neutral and shown as it is, never hidden."""
    word = str(value if value is not None else "").strip()
    key = word.lower()
    for candidate in (f"{kind}:{key}", key, key.replace("_", " "), key.replace(" ", "_")):
        if candidate in _TABLE:
            tone, icon = _TABLE[candidate]
            return Look(tone, icon, _LABELS.get(candidate, word))
    return Look("none", "minus", word or "none")
