"""Installing guards and comparing them with what the database holds."""

from django.db import connections

from v2kb.core.guards.registry import GUARDS


def expected_triggers(vendor: str) -> dict[str, tuple[str, str]]:
    """Trigger name -> (table, SQL that creates it)."""
    return {name: (guard.table, sql) for guard in GUARDS for name, sql in guard.statements(vendor).items()}


def present_triggers(using: str = "default") -> dict[str, str]:
    """Trigger name -> what the database stores of it: on SQLite its SQL, on PostgreSQL the body of its function."""
    connection = connections[using]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        else:
            cursor.execute(
                "SELECT tgname, prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid "
                "WHERE NOT tgisinternal AND tgenabled <> 'D'"
            )
        return dict(cursor.fetchall())


def missing_triggers(using: str = "default") -> list[str]:
    """Names of declared guards that the database lacks or holds with other text."""
    connection = connections[using]
    present = present_triggers(using)
    missing = []
    for name, (_, sql) in expected_triggers(connection.vendor).items():
        stored = present.get(name)
        if stored is None or not (stored == sql if connection.vendor == "sqlite" else f"$${stored}$$" in sql):
            missing.append(name)
    return missing


def install_guards(using: str = "default", **_: object) -> None:
    """Create every guard whose table exists, replacing what is there. Runs after each migrate."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for name, (table, sql) in expected_triggers(connection.vendor).items():
            if table not in tables:
                continue
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}")
            cursor.execute(sql)
