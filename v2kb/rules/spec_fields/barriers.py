"""Semaphores in either form, and the protocol around them."""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields.parts import LINE, NAME, YES_OR_NO, rows_of
from v2kb.rules.spec_words import (
    ARRIVAL_KINDS,
    ARRIVERS,
    ARRIVES,
    DATA_PATHS,
    HANDSHAKES,
    PARITY_WAITS,
    PUBLICATIONS,
    REINIT_OWNERS,
    SEM_FORMS,
    TAGS,
)

MAX_SEM_ROWS = 128
SEM = {
    "ordinal": shape.formula(),
    "slots": shape.formula(),
    "name": NAME,
    "count": shape.formula(),
    "arrivers": shape.one_of(*ARRIVERS),
    "producer": NAME,
    "consumer": NAME,
    "meaning": LINE,
    "kind": shape.one_of(*ARRIVAL_KINDS),
    "arrives": shape.one_of(*ARRIVES),
    "data": shape.one_of(*DATA_PATHS),
    "publication": shape.one_of(*PUBLICATIONS),
    "storage": NAME,
    "tx_bytes": shape.formula(),
    "pair": NAME,
    "first_phase": shape.one_of("0", "1"),
    "waited_at_start": YES_OR_NO,
    "reinit_owner": shape.one_of(*REINIT_OWNERS),
    "reinit_order": LINE,
    "proof": LINE,
    "releases": LINE,
}
# A blank cell of a channel means what the form itself says: a ring is arrived in each iteration, its reader waits first
# for a filled slot and its writer finds every slot free.
CHANNEL = {
    "name": NAME,
    "depth": shape.formula(),
    "producer": NAME,
    "producer_kind": shape.one_of(*ARRIVAL_KINDS),
    "consumer": NAME,
    "consumer_kind": shape.one_of(*ARRIVAL_KINDS),
    "full_base": shape.formula(),
    "empty_base": shape.formula(),
    "full_arrivals": shape.formula(),
    "empty_arrivals": shape.formula(),
    "full_arrivers": shape.one_of(*ARRIVERS),
    "empty_arrivers": shape.one_of(*ARRIVERS),
    "full_arrives": shape.one_of(*ARRIVES, blank="per_iteration"),
    "empty_arrives": shape.one_of(*ARRIVES, blank="per_iteration"),
    "full_phase": shape.one_of("0", "1", blank="0"),
    "empty_phase": shape.one_of("0", "1", blank="1"),
    "data": shape.one_of(*DATA_PATHS),
    "publication": shape.one_of(*PUBLICATIONS),
    "tx_bytes": shape.formula(),
    "storage": NAME,
    "shares_empty_with": NAME,
    "empty_name": NAME,
    "reinit_full_by": shape.one_of(*REINIT_OWNERS),
    "reinit_empty_by": shape.one_of(*REINIT_OWNERS),
    "reinit_full_order": LINE,
    "reinit_empty_order": LINE,
    "full_proof": LINE,
    "empty_proof": LINE,
    "releases": LINE,
    "meaning": shape.text(500, blank="slot is filled"),
    "empty_meaning": shape.text(500, blank="slot is free again"),
}
ONE_SHOT = {
    "name": NAME,
    "ordinal": shape.formula(),
    "arrivals": shape.formula(),
    "producer": NAME,
    "consumer": NAME,
    "kind": shape.one_of(*ARRIVAL_KINDS),
    "reinit_by": shape.one_of(*REINIT_OWNERS),
    **{
        name: SEM[name]
        for name in (
            "arrivers",
            "arrives",
            "data",
            "publication",
            "storage",
            "tx_bytes",
            "first_phase",
            "waited_at_start",
            "reinit_order",
            "proof",
            "releases",
            "meaning",
        )
    },
}
PROTOCOL = {
    "handshake": shape.one_of(*HANDSHAKES),
    "tags": shape.one_of(*TAGS),
    "parity_wait": shape.one_of(*PARITY_WAITS),
    "reinit_fenced": YES_OR_NO,
    "tail_before_publish": YES_OR_NO,
    "exit_snapshot": YES_OR_NO,
}
SEMS = {
    "form": shape.one_of(*SEM_FORMS, blank="rows"),
    "rows": rows_of(SEM, MAX_SEM_ROWS),
    "channels": rows_of(CHANNEL, 32),
    "one_shots": rows_of(ONE_SHOT, 31),
    "num_op_sems": shape.formula(),
    "protocol": shape.record(PROTOCOL),
}
