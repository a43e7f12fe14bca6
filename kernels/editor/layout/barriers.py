"""Semaphores in either form, and the barrier ledger: the same rows by what the protocol asks of them."""

from kernels.editor.layout.parts import Fields, Input, Section, Table, size, word, yes_no
from v2kb.rules.spec_words import (
    ARRIVAL_KINDS,
    ARRIVERS,
    ARRIVES,
    DATA_PATHS,
    HANDSHAKES,
    PARITY_WAITS,
    PUBLICATIONS,
    REINIT_OWNERS,
    TAGS,
)

_ORDINAL, _SLOTS = size("ordinal", "from ordinal"), size("slots", "slots")
_NAME = Input("name", "name", short=True)
_COUNT = size("count", "arrivals")
_KIND = word("kind", "arrival", ARRIVAL_KINDS)
_PRODUCER = Input("producer", "producer", short=True, suggest="role-list")
_CONSUMER = Input("consumer", "consumer", short=True, suggest="role-list")
_MEANING = Input("meaning", "meaning")
_OWNER = word("reinit_owner", "re-init owner", REINIT_OWNERS)
_PHASES = ("0", "1")
_DATA = (
    word("data", "data path", DATA_PATHS),
    size("tx_bytes", "expected bytes"),
    Input("storage", "storage region", short=True),
)
_FIRST_PHASE = word("first_phase", "first phase", _PHASES)
_ARRIVALS = (word("arrivers", "arrivers", tuple(ARRIVERS)), word("arrives", "arrives when", ARRIVES))
_PROTOCOL = (*_ARRIVALS, *_DATA, Input("pair", "pair", short=True), _FIRST_PHASE)
_PUBLICATION = word("publication", "publication", PUBLICATIONS, "For cp.async data that tcgen05 reads.")
_RELEASES = Input("releases", "releases", help="The resource that it hands back.")
_PROOFS = (
    _PUBLICATION,
    yes_no("waited_at_start", "waited at task start"),
    Input("reinit_order", "why the re-init comes first"),
    Input("proof", "proof", help="Why a tail barrier needs no owner."),
    _RELEASES,
)

SEMS = Table(
    "sems.rows",
    "Semaphores",
    "row",
    (_ORDINAL, _SLOTS, _NAME, _COUNT, _PRODUCER, _CONSUMER, _MEANING, _KIND, _OWNER),
    "A row may stand for several consecutive semaphores: slots STAGES, for example.",
    more=(*_PROTOCOL, *_PROOFS),
    more_title="Protocol",
    ordinals=True,
    when=("sems.form", "rows"),
)
LEDGER_ROWS = Table(
    "sems.rows",
    "Barrier ledger",
    "row",
    (_NAME, _OWNER, *_PROTOCOL),
    "The semaphore rows by what the protocol asks. A change here shows under Semaphores, and the other way round.",
    more=(*_PROOFS, _ORDINAL, _SLOTS, _COUNT, _KIND, _PRODUCER, _CONSUMER, _MEANING),
    more_title="Publication, proofs, ordinals, roles",
    when=("sems.form", "rows"),
)


def _edge(name: str) -> tuple[Input, ...]:
    """The fields of one edge of a channel that a designer may have to state."""
    return (
        size(f"{name}_arrivals", f"arrivals, {name}"),
        word(f"{name}_arrivers", f"arrivers, {name}", tuple(ARRIVERS)),
        word(f"{name}_arrives", f"arrives when, {name}", ARRIVES),
        word(f"{name}_phase", f"first phase, {name}", _PHASES),
        word(f"reinit_{name}_by", f"re-init owner, {name}", REINIT_OWNERS),
        Input(f"reinit_{name}_order", f"why the re-init comes first, {name}"),
        Input(f"{name}_proof", f"proof, {name}", help="Why a tail barrier needs no owner."),
    )


CHANNELS = Table(
    "sems.channels",
    "Channels",
    "channel",
    (
        _NAME,
        size("depth", "depth"),
        _PRODUCER,
        word("producer_kind", "its arrival", ARRIVAL_KINDS),
        _CONSUMER,
        word("consumer_kind", "its arrival", ARRIVAL_KINDS),
        size("full_base", "full from"),
        size("empty_base", "empty from"),
    ),
    "A channel is a ring: the producer fills a slot, the consumer hands it back. One that shares its empty edge with "
    "another names that one, and leaves the fields of the empty edge blank.",
    more=(
        *_edge("full"),
        *_DATA,
        _PUBLICATION,
        Input("meaning", "meaning, full"),
        Input("shares_empty_with", "shares empty with", short=True),
        Input("empty_name", "name, empty", help="Blank: the channel's name with _empty.", short=True),
        *_edge("empty"),
        _RELEASES,
        Input("empty_meaning", "meaning, empty"),
    ),
    more_title="Protocol of both edges",
    when=("sems.form", "channels"),
)
ONE_SHOTS = Table(
    "sems.one_shots",
    "One-shots",
    "one-shot",
    (
        _NAME,
        size("ordinal", "ordinal"),
        size("arrivals", "arrivals"),
        _PRODUCER,
        _CONSUMER,
        _KIND,
        word("reinit_by", "re-init by", REINIT_OWNERS),
        _MEANING,
    ),
    "Barriers that are used once in a task.",
    more=(*_ARRIVALS, *_DATA, _FIRST_PHASE, *_PROOFS),
    more_title="Protocol",
    when=("sems.form", "channels"),
)
SEM_SECTION = Section(
    "sems",
    "Semaphores",
    "At most 31 operation semaphores, ordinals from 0 without a gap.",
    (Fields((size("sems.num_op_sems", "Number of semaphores"),)), SEMS, CHANNELS, ONE_SHOTS),
    ("sems",),
)
LEDGER = Section(
    "ledger",
    "Barrier ledger",
    "Who arrives, when, with which data, and who re-arms each barrier.",
    (
        LEDGER_ROWS,
        Fields(
            (
                word("sems.protocol.handshake", "Handshake between roles", HANDSHAKES),
                word("sems.protocol.tags", "Tags of flags", TAGS, "Only for tag flags."),
                word("sems.protocol.parity_wait", "Parity waits", PARITY_WAITS),
                yes_no("sems.protocol.reinit_fenced", "Every re-init block ends with a fence"),
                yes_no("sems.protocol.tail_before_publish", "Tail barriers are re-armed before the publish"),
                yes_no("sems.protocol.exit_snapshot", "Loop-exit values are taken before the arrival"),
            ),
            "Protocol",
            "Answers that concern all barriers.",
            3,
        ),
    ),
    ("sems.protocol",),
)
