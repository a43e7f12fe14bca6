"""Settings of the tests: the product's own, in a data folder that goes away, with fast password hashes."""

import os
import tempfile
from pathlib import Path

# A folder of this process alone: messages and files that another run left must not reach these tests.
os.environ["V2KB_DATA_DIR"] = tempfile.mkdtemp(prefix="v2kb-tests-")
os.environ.setdefault("V2KB_WORKER_TOKEN", "worker-token-of-the-tests")
os.environ.setdefault("V2KB_LOG_LEVEL", "WARNING")

from v2kb.settings import *  # noqa: F403
from v2kb.settings import DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, not memory: threads of the live server and worker processes need locks that behave as in production.
    DATABASES["default"]["TEST"] = {"NAME": str(Path(os.environ["V2KB_DATA_DIR"]) / f"test-{os.getpid()}.sqlite3")}
