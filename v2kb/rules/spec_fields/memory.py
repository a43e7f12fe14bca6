"""Shared memory and tensor memory."""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields.parts import IDENTIFIER, LINE, MAX_ROWS, NAME, ROLE_NAME, YES_OR_NO, rows_of

SLICE = {
    "name": NAME,
    "slots": shape.formula(blank="1"),
    "offset_bytes": shape.formula(),
    "size_bytes": shape.formula(),
    "alignment": shape.formula(blank="1"),
    "contents": LINE,
}
REGION = {
    "ordinal": shape.formula(),
    "slots": shape.formula(blank="1"),
    "name": NAME,
    "size_bytes": shape.formula(),
    "alignment": shape.formula(),
    "page_count": shape.formula(blank="-1"),
    "can_pack": shape.flag(),
    "release_step": shape.formula(blank="0"),
    "contiguous": shape.flag(blank=True),
    "tma_dst": shape.flag(),
    "owner": NAME,
    "contents": LINE,
    "slices": rows_of(SLICE, 32),
}
SMEM = {
    "regions": rows_of(REGION),
    "queue": shape.rows(IDENTIFIER, MAX_ROWS),
    "ignores_offsets": YES_OR_NO,
    "static_shared_bytes": shape.formula(),
    "overlap_claim": YES_OR_NO,
    "double_buffered": YES_OR_NO,
}
TMEM_OBJECT = {
    "name": NAME,
    "slots": shape.formula(blank="1"),
    "columns": shape.formula(),
    "start": shape.formula(),
    "dtype": NAME,
    "writer": ROLE_NAME,
    "reader": ROLE_NAME,
    "contents": LINE,
}
TMEM = {
    "objects": rows_of(TMEM_OBJECT, 32),
    "alloc_columns": shape.formula(),
    "alloc_role": ROLE_NAME,
    "dealloc_role": ROLE_NAME,
    "address_cached": YES_OR_NO,
    "published_by": NAME,
}
