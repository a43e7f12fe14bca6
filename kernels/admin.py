"""Admin: everything of kernels is read here; it changes through services alone."""

from django.apps import apps
from django.contrib import admin

from v2kb.core.guarded_admin import NamedValues, ReadOnlyAdmin

WHY = "It changes on the pages of ops, specs, kernels and runs, where the rules judge it."

LISTS: dict[str, dict[str, list]] = {
    "op": {"list_display": ["slug", "title", "archived_at"], "search_fields": ["slug", "title"]},
    "opcontract": {
        "list_display": ["op", "number", "family", "envelope", "target", "content_hash"],
        "list_select_related": ["op"],
        "search_fields": ["op__slug", "content_hash"],
    },
    "spec": {"list_display": ["code", "title", "created_by", "archived_at"], "search_fields": ["code", "title"]},
    "specdraft": {
        "fields": ["spec", "user", "base", "version", "updated_at"],
        "list_display": ["spec", "user", "base", "version", "updated_at"],
        "list_select_related": ["spec", "user", "base__spec"],
        "search_fields": ["spec__code", "user__username"],
    },
    "specrevision": {
        "list_display": ["spec", "number", "author", "content_hash", "created_at"],
        "list_select_related": ["spec", "author"],
        "search_fields": ["spec__code", "content_hash"],
    },
    "gateresult": {
        "search_fields": ["revision__spec__code", "content_hash"],
        "list_display": ["revision", "passed", "gate_version", "content_hash", "created_at"],
        "list_filter": ["passed"],
        "list_select_related": ["revision__spec"],
    },
    "approval": {
        "search_fields": ["revision__spec__code", "revision_hash", "approver__username"],
        "list_display": ["revision", "approver", "revision_hash", "at"],
        "list_select_related": ["revision__spec", "approver"],
    },
    "position": {
        "search_fields": ["revision__spec__code", "user__username"],
        "list_display": ["revision", "user", "aspect", "position", "at"],
        "list_filter": ["aspect", "position"],
        "list_select_related": ["revision__spec", "user"],
    },
    "kernel": {
        "list_display": ["slug", "title", "op", "basis"],
        "list_filter": ["basis"],
        "list_select_related": ["op"],
        "search_fields": ["slug", "title", "op__slug"],
    },
    "kernelversion": {
        "list_display": ["kernel", "number", "digest", "author", "created_at"],
        "list_select_related": ["kernel", "author"],
        "search_fields": ["kernel__slug", "digest"],
    },
    "fileblob": {"fields": ["sha256", "size_bytes"], "list_display": ["sha256", "size_bytes"]},
    "anchor": {
        "list_display": ["name", "op", "state", "machine"],
        "list_filter": ["state"],
        "list_select_related": ["op"],
        "search_fields": ["name", "op__slug"],
    },
    "run": {
        "list_display": ["public_id", "kind", "state", "outcome", "queue", "submitted_by", "submitted_at"],
        "list_filter": ["kind", "state", ("outcome", NamedValues)],
        "list_select_related": ["submitted_by"],
        "search_fields": ["public_id"],
    },
    "runattempt": {
        "fields": ["run", "number", "fence", "worker", "claimed_at", "last_ping_at", "ended_at", "ended_why"],
        "list_display": ["run", "number", "fence", "worker", "ended_why"],
        "list_select_related": ["run", "worker"],
    },
    "judgement": {
        "search_fields": ["run__public_id"],
        "list_display": ["run", "judgement", "grade", "disposition", "created_at"],
        "list_filter": [("judgement", NamedValues), ("grade", NamedValues)],
        "list_select_related": ["run"],
    },
    "worker": {"list_display": ["name", "queue", "last_seen"], "list_filter": ["queue"], "search_fields": ["name"]},
}

# Every model, so that none is forgotten; `fields` leaves out key hashes, raw bytes and what a draft says, a run's job
# holds its seed secret.
LISTS["run"]["exclude"] = ["job"]
for model in apps.get_app_config("kernels").get_models():
    if not model._meta.auto_created:
        admin.site.register(
            model,
            type(
                f"{model.__name__}Admin",
                (ReadOnlyAdmin,),
                {"why_read_only": WHY, **LISTS.get(model._meta.model_name, {})},
            ),
        )
