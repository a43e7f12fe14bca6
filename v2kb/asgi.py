"""ASGI entry point, for servers that want one."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "v2kb.settings")
application = get_asgi_application()

from v2kb.core.checks import refuse_without_guards  # noqa: E402

refuse_without_guards()
