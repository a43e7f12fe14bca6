"""Shared memory and tensor memory."""

from kernels.editor.layout.parts import Fields, Input, Section, Table, size, word, yes_no
from v2kb.rules.spec_words import ROLES

SLICES = Table(
    "slices",
    "Slices",
    "slice",
    (
        Input("name", "name", short=True),
        size("slots", "slots"),
        size("offset_bytes", "offset (B)"),
        size("size_bytes", "size (B)"),
        size("alignment", "align (B)"),
        Input("contents", "contents"),
    ),
    "Parts inside the region. The offset may use s, the number of the slot: s*3072 + 2048.",
)
REGIONS = Table(
    "smem.regions",
    "SMEM regions",
    "region",
    (
        size("ordinal", "ordinal"),
        size("slots", "slots"),
        Input("name", "name", short=True),
        size("size_bytes", "size (B)"),
        size("alignment", "align (B)"),
        size("page_count", "pages"),
        Input("can_pack", "can pack", "check"),
        Input("tma_dst", "TMA target", "check"),
    ),
    "Sizes may be expressions over the symbols, such as STAGES*3072+16. Pages -1 lets the planner decide. A row with "
    "slots stands for that many regions of consecutive ordinals.",
    more=(
        size("release_step", "Release step", "May use s, the number of the slot."),
        Input("owner", "Owner", "select", ("", *ROLES)),
        Input("contiguous", "Contiguous", "check"),
        Input("contents", "Contents"),
    ),
    more_title="Release, owner, contents, slices",
    tables=(SLICES,),
    ordinals=True,
)
SMEM = Section(
    "smem",
    "Shared memory",
    "Regions as the planner sees them: 14 pages of 16,384 bytes, 224,256 bytes in all.",
    (
        REGIONS,
        Fields(
            (
                Input(
                    "smem.queue",
                    "Queue",
                    "list",
                    help="What runs on the same SM, in order, separated by commas: this, S3, this.",
                ),
                size("smem.static_shared_bytes", "Static shared memory (B)"),
                yes_no("smem.ignores_offsets", "The body ignores region offsets"),
                yes_no("smem.overlap_claim", "Claims overlap across tasks"),
                yes_no("smem.double_buffered", "The planner double-buffers"),
            ),
            "Beside the regions",
            columns=2,
        ),
    ),
    ("smem",),
)
TMEM_OBJECTS = Table(
    "tmem.objects",
    "TMEM objects",
    "object",
    (
        Input("name", "name", short=True),
        size("slots", "slots"),
        size("columns", "columns per slot"),
        size("start", "start column"),
        Input("dtype", "dtype", short=True),
        word("writer", "writer", ROLES),
        word("reader", "reader", ROLES),
        Input("contents", "contents"),
    ),
    "Columns of tensor memory, 512 in all.",
)
TMEM = Section(
    "tmem",
    "Tensor memory",
    "What stands in the columns of tensor memory, and who allocates and frees them.",
    (
        TMEM_OBJECTS,
        Fields(
            (
                size("tmem.alloc_columns", "Columns allocated"),
                word("tmem.alloc_role", "Allocated by", ROLES),
                word("tmem.dealloc_role", "Freed by", ROLES),
                yes_no("tmem.address_cached", "Address cached before the scratch page goes"),
                Input("tmem.published_by", "Address published by", short=True, help="Name of a semaphore row."),
            ),
            "Allocation",
            columns=3,
        ),
    ),
    ("tmem",),
)
