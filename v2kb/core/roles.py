"""The roles of the vocabulary. A role is a Django group of the same name; superusers get no exception."""

ROLES: dict[str, str] = {
    "viewer": "reads everything that is not a draft of somebody else",
    "designer": "writes ops and specs, proposes evidence changes",
    "implementer": "attaches kernels and their versions",
    "validator": "sends validate and perf runs, captures anchors",
    "reviewer_correctness": "takes positions on the correctness of a spec",
    "reviewer_performance": "takes positions on the performance of a spec",
    "curator": "accepts evidence proposals, imports evidence and references, signs new mechanisms, edits vocabularies, "
    "gives and takes the roles that decide about nothing",
    "operator": "watches workers, cancels any run",
    "administrator": "manages users, roles and vocabularies",
}

WORKING_ROLES = ("viewer", "designer", "implementer", "validator")
"""Whoever has them proposes, designs and measures, and decides or guards nothing: curators give and take them."""
