"""Writing the vocabulary of levers. A lever's name and slug are names like its aliases: no other lever may use them."""

from collections.abc import Iterable

from django.db import IntegrityError, transaction

from evidence.families import lever_families
from evidence.models import EvidenceChange, EvidenceRow, Lever, LeverAlias
from evidence.policies import require_lever_editor
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.archiving import archive, restore
from v2kb.core.errors import Conflict, Missing, Refusal
from v2kb.core.service import service
from v2kb.core.values import check_text
from v2kb.rules.evidence import is_blocking
from v2kb.rules.lever_family import Families
from v2kb.rules.names import lever_key, lever_slug

MAX_NAME_CHARS = 200
MAX_DESCRIPTION_CHARS = 4000
RESERVED_SLUGS = frozenset({"new"})  # the address of the form that adds a lever


@service("evidence.create_lever")
def create_lever(
    actor: Actor, *, name: str, slug: str = "", description: str = "", parent: str = "", aliases: Iterable[str] = ()
) -> Lever:
    """Add a lever; without `slug` it is made from the name. `parent` is the slug of a lever or empty.

    Raises Refusal evidence.lever_name, evidence.lever_slug, evidence.alias_name, evidence.lever_text; Missing
    evidence.no_lever for the parent; Conflict evidence.name_taken.
    """
    require_lever_editor(actor)
    name = _name(name, "name", "evidence.lever_name")
    slug_field = "slug" if slug.strip() else "name"
    slug = slug.strip() or lever_slug(name)
    if not slug or slug != lever_slug(slug) or slug in RESERVED_SLUGS:
        raise Refusal(
            "evidence.lever_slug",
            f"{slug[:80] or 'The slug'} is no slug.",
            field=slug_field,
            fix="Use small letters, digits and single hyphens, at most 80, and another word than new.",
        )
    if Lever.objects.filter(slug=slug).exists():
        raise Conflict(
            "evidence.name_taken", f"A lever {slug} exists already.", field=slug_field, fix="Use that lever."
        )
    lever = Lever(slug=slug, name=name, description=_description(description))
    lever.parent = standing_lever(parent, field="parent") if parent else None
    _save_new(lever)
    _claim(lever, name, field="name")
    _claim(lever, slug, field=slug_field)
    for alias in aliases:
        _claim(lever, _name(alias, "aliases", "evidence.alias_name"), field="aliases")
    record(actor, "evidence.create_lever", lever, f"lever {slug} added", after=lever_document(lever))
    return lever


@service("evidence.edit_lever")
def edit_lever(actor: Actor, slug: str, *, name: str, description: str = "", parent: str = "") -> Lever:
    """Change name, description and parent; the slug stays, and the old name stays an alias.

    Raises as `create_lever`, Refusal evidence.lever_cycle, evidence.lever_disarms, evidence.no_change, and Conflict
    evidence.lever_merged.
    """
    require_lever_editor(actor)
    lever = standing_lever(slug, lock=True)
    before = lever_document(lever)
    lever.name = _name(name, "name", "evidence.lever_name")
    lever.description = _description(description)
    families = lever_families()
    inherited = families.above([lever.pk])
    lever.parent = standing_lever(parent, field="parent") if parent else None
    _refuse_cycle(lever)
    others = {pk: above for pk, above in families.parents.items() if pk != lever.pk}
    parents = others | ({lever.pk: lever.parent.pk} if lever.parent else {})
    lost = inherited - Families(parents, families.merged).above([lever.pk])
    _refuse_disarming(lost, "parent", f"{lever.name} through its parent")
    _claim(lever, lever.name, field="name")
    if Lever.objects.exclude(pk=lever.pk).filter(name=lever.name).exists():
        raise Conflict(
            "evidence.name_taken", f"Another lever is called {lever.name}.", field="name", fix="Use that lever."
        )
    lever.save(update_fields=["name", "description", "parent"])
    after = lever_document(lever)
    if after == before:
        raise Refusal("evidence.no_change", "Nothing was changed.", fix="Change a field, or leave the page.")
    record(actor, "evidence.edit_lever", lever, f"lever {lever.slug} changed", before=before, after=after)
    if after["parent"] != before["parent"]:
        EvidenceChange.objects.create()  # other rows count for this lever now: stored searches are run again
    return lever


def _refuse_disarming(levers: set[int], field: str, what: str) -> None:
    """Refuse a loss that takes the blocking DEAD rows of `levers` off a design: that is no one person's decision."""
    rows = EvidenceRow.objects.select_related("head").filter(head__lever__in=levers, head__verdict="DEAD")
    codes = sorted(row.code for row in rows if is_blocking(row.head.content))
    if codes:
        raise Refusal(
            "evidence.lever_disarms",
            f"{', '.join(codes[:20])} block{'s' if len(codes) == 1 else ''} {what}.",
            field=field,
            fix="Propose a change of those rows first; two people decide it.",
        )


@service("evidence.add_alias")
def add_alias(actor: Actor, slug: str, alias: str) -> LeverAlias:
    """Give a lever another name. Raises Refusal evidence.alias_name, Conflict evidence.name_taken, Missing
    evidence.no_lever.
    """
    require_lever_editor(actor)
    lever = standing_lever(slug, lock=True)
    alias = _name(alias, "alias", "evidence.alias_name")
    if lever.aliases.filter(normalised=lever_key(alias)).exists():
        raise Conflict(
            "evidence.name_taken",
            f"{lever.slug} has this name already; spellings that differ in case, hyphens or signs are one name.",
            field="alias",
        )
    created = _claim(lever, alias, field="alias")
    record(actor, "evidence.add_alias", lever, f"{lever.slug} is also called {alias}", after={"alias": alias})
    return created


@service("evidence.remove_alias")
def remove_alias(actor: Actor, slug: str, alias: str) -> Lever:
    """Take an alias away. Raises Missing evidence.no_alias; Refusal evidence.alias_is_name for the lever's own name,
    evidence.lever_disarms while a blocking DEAD row counts for the lever: a design that uses the alias would no longer
    meet it, and the alias could become the name of another lever.
    """
    require_lever_editor(actor)
    lever = find_lever(slug, lock=True)
    found = lever.aliases.filter(normalised=lever_key(alias)).first()
    if found is None:
        raise Missing(
            "evidence.no_alias",
            f"{lever.slug} has no alias {alias[:80]}.",
            field="alias",
            fix="Pick one from its list.",
        )
    if found.normalised in {lever_key(lever.name), lever_key(lever.slug)}:
        raise Refusal(
            "evidence.alias_is_name",
            f"{found.name} is the lever's own name.",
            field="alias",
            fix="Rename the lever instead.",
        )
    taken = Lever.objects.filter(pk__in=lever_families().merged_with([lever.pk]))
    if found.normalised in {lever_key(name) for one in taken for name in (one.name, one.slug)}:
        raise Refusal(
            "evidence.alias_is_name",
            f"{found.name} is the name of a lever that was merged into this one.",
            field="alias",
            fix="Keep it: rows and specs still name that lever.",
        )
    _refuse_disarming(lever_families().above([lever.pk]), "alias", f"designs that call {lever.name} {found.name}")
    found.delete()
    record(
        actor,
        "evidence.remove_alias",
        lever,
        f"{lever.slug} is no longer called {found.name}",
        before={"alias": found.name},
    )
    return lever


@service("evidence.archive_lever")
def archive_lever(actor: Actor, slug: str, *, reason: str) -> Lever:
    """Take a lever that no row and no other lever uses off the lists. Raises Conflict evidence.lever_in_use, Refusal
    evidence.reason_missing."""
    require_lever_editor(actor)
    lever = find_lever(slug, lock=True)
    if not reason.strip():
        raise Refusal("evidence.reason_missing", "The reason is empty.", field="reason", fix="Say why it is archived.")
    mine = lever_families().merged_with([lever.pk])
    rows = list(
        EvidenceRow.objects.filter(head__lever__in=mine, archived_at__isnull=True).values_list("code", flat=True)[:20]
    )
    children = list(lever.children.filter(archived_at__isnull=True).values_list("slug", flat=True)[:20])
    if rows or children:
        raise Conflict(
            "evidence.lever_in_use",
            f"{lever.slug} is used by {', '.join([*rows, *children])}.",
            fix="Move those to another lever first.",
            facts={"rows": rows, "levers": children},
        )
    archive(lever, lever.slug, "evidence.lever_archived")
    record(actor, "evidence.archive_lever", lever, f"{lever.slug} archived: {reason.strip()[:1000]}")
    return lever


@service("evidence.restore_lever")
def restore_lever(actor: Actor, slug: str) -> Lever:
    """Put an archived lever back on the lists. Raises Conflict evidence.not_archived, evidence.lever_merged."""
    require_lever_editor(actor)
    lever = standing_lever(slug, lock=True)
    restore(lever, lever.slug, "evidence.not_archived")
    record(actor, "evidence.restore_lever", lever, f"{lever.slug} restored")
    return lever


def find_lever(slug: str, *, field: str | None = None, lock: bool = False) -> Lever:
    """The lever with this slug. Raises Missing evidence.no_lever."""
    levers = Lever.objects.select_for_update(of=("self",)) if lock else Lever.objects
    lever = levers.filter(slug=slug).first()
    if lever is None:
        error = Missing if field is None else Refusal
        raise error(
            "evidence.no_lever",
            f"There is no lever {slug[:80]!r}.",
            field=field,
            fix="Pick one from the list of levers.",
        )
    return lever


def standing_lever(slug: str, *, field: str | None = None, lock: bool = False) -> Lever:
    """`find_lever`, for what a merged lever no longer takes. Raises Conflict evidence.lever_merged."""
    lever = find_lever(slug, field=field, lock=lock)
    if lever.merged_into_id is not None:
        into = Lever.objects.get(pk=lever_families().survivor(lever.pk))
        raise Conflict(
            "evidence.lever_merged",
            f"{lever.slug} was merged into {into.slug}.",
            field=field,
            fix=f"Use the lever {into.slug}.",
            facts={"lever": into.slug},
        )
    return lever


def lever_document(lever: Lever) -> dict:
    """The lever as the activity log keeps it."""
    return {
        "slug": lever.slug,
        "name": lever.name,
        "description": lever.description,
        "parent": lever.parent.slug if lever.parent else "",
        "aliases": sorted(lever.aliases.values_list("name", flat=True)),
    }


def _name(text: str, field: str, code: str) -> str:
    name = " ".join(text.split())
    if "\0" in name or not lever_key(name):
        raise Refusal(
            code, "The name holds no letter and no digit.", field=field, fix="Write the name as your field writes it."
        )
    check_text(name, field)
    if max(len(name), len(lever_key(name))) > MAX_NAME_CHARS:
        raise Refusal(code, f"The name is longer than {MAX_NAME_CHARS} characters.", field=field, fix="Shorten it.")
    return name


def _description(text: str) -> str:
    text = text.strip()
    if len(text) > MAX_DESCRIPTION_CHARS or "\0" in text:
        raise Refusal(
            "evidence.lever_text",
            f"The description may have {MAX_DESCRIPTION_CHARS} characters and no NUL.",
            field="description",
            fix="Shorten it.",
        )
    check_text(text, "description")
    return text


def _save_new(lever: Lever) -> None:
    try:
        with transaction.atomic():
            lever.save()
    except IntegrityError as error:
        raise Conflict(
            "evidence.name_taken", f"A lever called {lever.name} exists already.", field="name", fix="Use that lever."
        ) from error


def _claim(lever: Lever, name: str, *, field: str) -> LeverAlias:
    """Make `name` belong to `lever`. Raises Conflict evidence.name_taken when it belongs to another one."""
    key = lever_key(name)
    owner = LeverAlias.objects.filter(normalised=key).select_related("lever").first()
    if owner is None:
        try:
            with transaction.atomic():
                return LeverAlias.objects.create(lever=lever, name=name, normalised=key)
        except IntegrityError:
            owner = LeverAlias.objects.select_related("lever").get(normalised=key)
    if owner.lever_id != lever.pk:
        raise Conflict(
            "evidence.name_taken",
            f"{name} is a name of the lever {owner.lever.slug} already.",
            field=field,
            fix=f"Use the lever {owner.lever.slug}, or another name.",
            facts={"lever": owner.lever.slug, "name": owner.name},
        )
    return owner


def _refuse_cycle(lever: Lever) -> None:
    above, seen = lever.parent, set()
    while above is not None:
        if above.pk == lever.pk or above.pk in seen:
            raise Refusal(
                "evidence.lever_cycle",
                f"{lever.slug} would stand above itself.",
                field="parent",
                fix="Pick a parent that is not below this lever.",
            )
        seen.add(above.pk)
        above = above.parent
