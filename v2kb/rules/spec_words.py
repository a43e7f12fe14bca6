"""The words that the fields of a spec document may take."""

FAMILIES = ("A", "B", "C", "D", "E")
ROLES = ("loader", "mma", "consumer", "storer", "controller")
YES_NO = ("yes", "no")
ARRIVAL_KINDS = ("warp", "tma", "mma")
# How many arrivals one phase of a barrier gets, by who makes them.
ARRIVERS = {
    "elected": 1,
    "tma": 1,
    "commit": 1,
    "noinc_and_elected": 2,
    "warp": 32,
    "four_warps": 128,
}
ARRIVES = ("early", "per_iteration", "task_tail")
DATA_PATHS = ("none", "tma", "cp_async", "stores", "tmem")
PUBLICATIONS = ("fence_then_arrive", "noinc")
REINIT_OWNERS = ("none", *ROLES)
SEM_FORMS = ("rows", "channels")
PARITY_WAITS = ("every_sequence", "one_owner", "neither")
HANDSHAKES = ("mbarrier", "tag_flags")
TAGS = ("salted_64", "plain")
RELEASE_OWNERS = ("codegen", "launcher", "storer")
DEPENDENCIES = ("codegen", "inline", "transitive", "none")
MODES = ("per_tile", "grid_wide", "multi_instance")
INDEXED_BY = ("task_offset", "nothing")
POLARITIES = ("adopts", "avoids", "keeps", "defers")
STANCES = ("supports", "contradicts", "context")
STAGES = ("stage-2", "stage-3", "stage-4", "stage-5")
BLOCKS = ("build", "verdict", *STAGES)
QUESTION_STATES = ("OPEN", "RESOLVED", "FROZEN")
REVIEW_VERDICTS = ("SOUND", "FLAWED")
AUDIT_ANSWERS = ("yes", "no", "n/a")
RUNGS = ("G0", "G1", "G1b", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9")
ROUTES = ("engineer", "ferret", "kda", "none")
TIMERS = ("globaltimer", "cupti", "events")
STATISTICS = ("min", "median", "mean", "median_over_blocks")
FLOORS = ("same_grid_load_only", "same_grid_xor_consumer", "achievable_bandwidth", "peak_roofline", "none")
NOTE_PLACES = (
    "preamble",
    "contract",
    "engine",
    "smem",
    "tmem",
    "sems",
    "roles",
    "granularity",
    "evidence",
    "gates",
    "wiring",
    "questions",
    "reviews",
    "appendix",
    "audit",
)
THIS_SPEC = "this"
