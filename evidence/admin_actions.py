"""The buttons of the admin on evidence: what each says before it calls its service."""

from collections.abc import Callable
from typing import Any

from django import forms

from evidence.curation import effects_of_confirming
from evidence.models import Flag, Lever, Term
from evidence.policies import may_confirm, may_curate, may_edit_levers
from evidence.selectors import other_names
from evidence.services import (
    add_alias,
    archive_lever,
    archive_row,
    clear_flag,
    confirm_flag,
    merge_levers,
    remove_alias,
    restore_lever,
    restore_row,
    unmerge_levers,
)
from evidence.services.terms import add_term_alias, archive_term, remove_term_alias, restore_term
from v2kb.core.actor import Actor
from v2kb.core.guarded_admin import ActionForm, ObjectAction, ReasonForm


class MergeForm(ReasonForm):
    """The lever that stays, and why the two are one technique."""

    into = forms.ModelChoiceField(
        Lever.objects.none(), to_field_name="slug", help_text="The lever that stays.", empty_label="Pick a lever"
    )
    field_order = ["into", "reason"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["into"].queryset = Lever.objects.filter(archived_at__isnull=True).exclude(pk=self.obj.pk)


class AliasForm(ActionForm):
    """A name to add."""

    alias = forms.CharField(label="Another name", max_length=200)


class LeverNameForm(ActionForm):
    """A name to take away."""

    alias = forms.ChoiceField(label="Name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["alias"].choices = [(alias.name, alias.name) for alias in other_names(self.obj)]


class TermNameForm(ActionForm):
    """A name to take away."""

    alias = forms.ChoiceField(label="Name")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["alias"].choices = [(alias.word, alias.word) for alias in self.obj.aliases.filter(built_in=False)]


def _kept(
    leaves: str,
    returns: str,
    archive: Callable[[Actor, Any, str], Any],
    restore: Callable[[Actor, Any], Any],
    may: Callable[[Actor, Any], bool],
    called: str = "{}",
) -> tuple[ObjectAction, ObjectAction]:
    """The buttons that archive and restore a thing; `leaves` and `returns` say what that does to the lists."""
    begins = called[:1].upper() + called[1:]
    return (
        ObjectAction(
            "archive",
            "Archive",
            f"Archive {called}?",
            leaves,
            f"{begins} is archived.",
            lambda actor, thing, data: archive(actor, thing, data["reason"]),
            lambda actor, thing: may(actor, thing) and thing.archived_at is None,
            ReasonForm,
            destroys=True,
        ),
        ObjectAction(
            "restore",
            "Restore",
            f"Put {called} back on the lists?",
            returns,
            f"{begins} is back on the lists.",
            lambda actor, thing, data: restore(actor, thing),
            lambda actor, thing: may(actor, thing) and thing.archived_at is not None,
        ),
    )


def _lever_in_use(actor: Actor, lever: Lever) -> bool:
    return may_edit_levers(actor) and lever.archived_at is None


LEVER_ACTIONS = (
    ObjectAction(
        "add-alias",
        "Add a name",
        "Give {} another name",
        "Searches, imports and specs that use the name find this lever. A name belongs to one lever alone.",
        "{} has another name.",
        lambda actor, lever, data: add_alias(actor, lever.slug, data["alias"]),
        _lever_in_use,
        AliasForm,
    ),
    ObjectAction(
        "remove-alias",
        "Take a name away",
        "Take a name of {} away?",
        "Searches, imports and specs that use the name no longer find the lever.",
        "The name is taken away.",
        lambda actor, lever, data: remove_alias(actor, lever.slug, data["alias"]),
        lambda actor, lever: _lever_in_use(actor, lever) and bool(other_names(lever)),
        LeverNameForm,
        destroys=True,
    ),
    ObjectAction(
        "merge",
        "Merge",
        "Merge {} into another lever?",
        "Its names and the levers below it move to the other lever, and it leaves the vocabulary. Rows, citations and "
        "specs that name it stay as they are. From now on, what blocks one of the two blocks designs of both. "
        "Only another curator can undo it.",
        "{} is merged.",
        lambda actor, lever, data: merge_levers(actor, lever.slug, into=data["into"].slug, reason=data["reason"]),
        lambda actor, lever: may_curate(actor) and lever.merged_into_id is None,
        MergeForm,
        destroys=True,
    ),
    ObjectAction(
        "unmerge",
        "Undo the merge",
        "Take {} out of the lever that it was merged into?",
        "Its names and the levers below it come back to it. What blocks one of the two no longer blocks designs of the "
        "other. Another curator than who merged them undoes it.",
        "The merge of {} is undone.",
        lambda actor, lever, data: unmerge_levers(actor, lever.slug, reason=data["reason"]),
        lambda actor, lever: may_curate(actor) and lever.merged_into_id is not None,
        ReasonForm,
        destroys=True,
    ),
    *_kept(
        "It leaves the vocabulary that choices and rows pick from, until it is restored. Its page and names stay. A "
        "lever that rows or other levers use can't be archived.",
        "Choices and rows can pick it again.",
        lambda actor, lever, reason: archive_lever(actor, lever.slug, reason=reason),
        lambda actor, lever: restore_lever(actor, lever.slug),
        lambda actor, lever: may_edit_levers(actor) and lever.merged_into_id is None,
    ),
)


def _added(actor: Actor, term: Term) -> bool:
    return may_edit_levers(actor) and not term.built_in


TERM_ACTIONS = (
    ObjectAction(
        "add-alias",
        "Add a name",
        "Write {} another way",
        "Of an architecture or dtype: scopes that use the name and scopes that use the term are compared as one from "
        "now on, so DEAD rows of either count for designs of both. Of a cause class: rows keep the class itself. Of a "
        "unit: numbers written so are read from now on and kept in the unit itself; stored numbers stay as they are.",
        "{} can be written another way.",
        lambda actor, term, data: add_term_alias(actor, term.pk, data["alias"]),
        lambda actor, term: may_edit_levers(actor),
        AliasForm,
    ),
    ObjectAction(
        "remove-alias",
        "Take a name away",
        "Take a name of {} away?",
        "Of an architecture or dtype: scopes that use the name no longer meet those of the term. While a blocking DEAD "
        "row holds for the term this is refused: it would disarm that row. Of a unit: numbers written so are read no "
        "more; stored numbers stay as they are.",
        "The name is taken away.",
        lambda actor, term, data: remove_term_alias(actor, term.pk, data["alias"]),
        lambda actor, term: may_edit_levers(actor) and term.aliases.filter(built_in=False).exists(),
        TermNameForm,
        destroys=True,
    ),
    *_kept(
        "It leaves the lists to pick from, until it is restored. Rows that hold it stay and count as before.",
        "It can be picked again.",
        lambda actor, term, reason: archive_term(actor, term.pk, reason=reason),
        lambda actor, term: restore_term(actor, term.pk),
        _added,
        called="the {}",
    ),
)


ROW_ACTIONS = (
    *_kept(
        "It leaves the lists until a curator restores it; its page and its code stay. A row that blocks or is cited "
        "can't be archived.",
        "It shows in lists and searches again.",
        lambda actor, row, reason: archive_row(actor, row.code, reason=reason),
        lambda actor, row: restore_row(actor, row.code),
        lambda actor, row: may_curate(actor),
    ),
)


def _open(actor: Actor, flag: Flag) -> bool:
    return may_curate(actor) and flag.cleared_at is None


FLAG_ACTIONS = (
    ObjectAction(
        "confirm",
        "Confirm",
        "Confirm the doubt?",
        "From now on the row can't be cited, until a curator clears the flag. Approved specs that pinned it:",
        "The flag is confirmed.",
        lambda actor, flag, data: confirm_flag(actor, flag.pk),
        lambda actor, flag: flag.cleared_at is None and may_confirm(actor, flag),
        destroys=True,
        effects=effects_of_confirming,
    ),
    ObjectAction(
        "clear",
        "Clear",
        "Clear the flag?",
        "The row can be cited again. The flag and the reason stay in its history.",
        "The flag is cleared.",
        lambda actor, flag, data: clear_flag(actor, flag.pk, reason=data["reason"]),
        _open,
        ReasonForm,
        destroys=True,
    ),
)
