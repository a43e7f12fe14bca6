"""The application's Celery app. It only sends run messages, by name; workers have an app of their own."""

from celery import Celery
from django.conf import settings

from v2kb.broker import configure

app = Celery("v2kb")
configure(app, settings.BROKER_URL, settings.DATA_DIR)
