"""What the health page checks. Apps add their own lines to the registry."""

from collections.abc import Callable
from typing import Any

from django.db import connection
from kombu.exceptions import OperationalError

from v2kb.celery import app
from v2kb.core.guards.install import missing_triggers
from v2kb.core.registry import Registry

HEALTH: Registry[Callable[[], dict[str, Any]]] = Registry()


def _database() -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return {"name": "database", "ok": True, "needed": True, "detail": connection.vendor}


def _guards() -> dict[str, Any]:
    missing = missing_triggers()
    detail = "all in place" if not missing else f"missing: {', '.join(missing)}; run manage.py migrate"
    return {"name": "database guards", "ok": not missing, "needed": True, "detail": detail}


def _broker() -> dict[str, Any]:
    try:
        with app.connection_for_write() as connected:
            connected.ensure_connection(max_retries=1, timeout=2)
        return {
            "name": "broker",
            "ok": True,
            "needed": False,
            "detail": connected.transport_cls or "connected",
        }
    except (OperationalError, OSError) as error:
        detail = f"{error}. Runs stay queued and are sent again when it is back."
        return {"name": "broker", "ok": False, "needed": False, "detail": detail}


def health_report() -> list[dict[str, Any]]:
    """One line per check: name, ok, needed (the site can't work without it), detail."""
    return [_database(), _guards(), _broker(), *(check() for _, check in HEALTH.items())]
