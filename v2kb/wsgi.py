"""WSGI entry point: `gunicorn v2kb.wsgi`."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "v2kb.settings")
application = get_wsgi_application()

from v2kb.core.checks import refuse_without_guards  # noqa: E402

refuse_without_guards()
# What start-up made stays: looking through it for garbage costs a request now and then 100 ms.
gc.collect()
gc.freeze()
