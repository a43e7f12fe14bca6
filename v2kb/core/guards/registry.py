"""The registry of guards and their SQL on SQLite and PostgreSQL."""

from dataclasses import dataclass
from typing import Protocol


class Guard(Protocol):
    """A named set of triggers on one table."""

    table: str

    def statements(self, vendor: str) -> dict[str, str]:
        """Trigger name -> SQL that creates it, for `vendor` ("sqlite" or "postgresql")."""


def _raise_function(name: str, text: str) -> str:
    return (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN RAISE EXCEPTION '{text}' USING ERRCODE = 'integrity_constraint_violation'; END $$;"
    )


@dataclass(frozen=True)
class Kept:
    """Rows of `table` may change as other guards let them, and are never removed (nor truncated, nor replaced)."""

    table: str
    says = "may change, and are never removed"
    sqlite_events = ("delete",)
    postgresql_events = {"delete": "DELETE"}

    def statements(self, vendor: str) -> dict[str, str]:
        text = f"v2kb:database.immutable:Rows of {self.table} {self.says}."
        if vendor == "sqlite":
            whens = {event: f"BEFORE {event.upper()} ON {self.table}" for event in self.sqlite_events}
            whens["replace"] = (
                f"BEFORE INSERT ON {self.table} WHEN EXISTS (SELECT 1 FROM {self.table} WHERE id = NEW.id)"
            )
            return {
                self._name(event): f"CREATE TRIGGER {self._name(event)} {when} BEGIN SELECT RAISE(ABORT, '{text}'); END"
                for event, when in whens.items()
            }
        function = f"guard_{self.table}"
        create = _raise_function(function, text)
        whens = {event: (words, "ROW") for event, words in self.postgresql_events.items()}
        whens["truncate"] = ("TRUNCATE", "STATEMENT")
        return {
            self._name(event): (
                f"{create} CREATE TRIGGER {self._name(event)} BEFORE {words} ON {self.table} "
                f"FOR EACH {each} EXECUTE FUNCTION {function}();"
            )
            for event, (words, each) in whens.items()
        }

    def _name(self, event: str) -> str:
        return f"guard_{self.table}_{event}"


@dataclass(frozen=True)
class Immutable(Kept):
    """Rows of `table` can be added, never changed or removed (nor truncated, nor replaced)."""

    says = "can be added, never changed or removed"
    sqlite_events = ("update", "delete")
    postgresql_events = {"update": "UPDATE OR DELETE"}


@dataclass(frozen=True)
class TriggerGuard:
    """A condition on inserted or updated rows: `refuse_when` is SQL over NEW and OLD, the same for both databases."""

    table: str
    name: str
    code: str
    message: str
    refuse_when: str
    event: str = "INSERT"

    def statements(self, vendor: str) -> dict[str, str]:
        trigger = f"guard_{self.table}_{self.name}"
        text = f"v2kb:{self.code}:{self.message}"
        if vendor == "sqlite":
            return {
                trigger: (
                    f"CREATE TRIGGER {trigger} BEFORE {self.event} ON {self.table} WHEN {self.refuse_when} "
                    f"BEGIN SELECT RAISE(ABORT, '{text}'); END"
                )
            }
        return {
            trigger: (
                f"CREATE OR REPLACE FUNCTION {trigger}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"IF {self.refuse_when} THEN "
                f"RAISE EXCEPTION '{text}' USING ERRCODE = 'integrity_constraint_violation'; "
                f"END IF; RETURN NEW; END $$; "
                f"CREATE TRIGGER {trigger} BEFORE {self.event} ON {self.table} "
                f"FOR EACH ROW EXECUTE FUNCTION {trigger}();"
            )
        }


def head_moves_forward(table: str, revisions: str, owner: str) -> TriggerGuard:
    """The head of a row of `table` moves to a later revision of its own only, never back and never away. `owner` is
    the column of `revisions` that says whose a revision is.
    """

    def number(which: str) -> str:
        return f"(SELECT r.number FROM {revisions} r WHERE r.id = {which}.head_id)"

    return TriggerGuard(
        table=table,
        name="head",
        code="database.head_moved_back",
        message="A head moves to a later revision of its own only.",
        refuse_when=(
            "(OLD.head_id IS NOT NULL AND (NEW.head_id IS NULL OR "
            f"(NEW.head_id <> OLD.head_id AND {number('NEW')} <= {number('OLD')}))) OR (NEW.head_id IS NOT NULL AND "
            f"NOT EXISTS (SELECT 1 FROM {revisions} r WHERE r.id = NEW.head_id AND r.{owner} = NEW.id))"
        ),
        event="UPDATE",
    )


GUARDS: list[Guard] = []


def register(*guards: Guard) -> None:
    """Declare guards; called from the `guards` module of each app as it becomes ready."""
    for guard in guards:
        if guard not in GUARDS:
            GUARDS.append(guard)
