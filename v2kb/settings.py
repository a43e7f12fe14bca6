"""Settings, all from the environment; without any, one machine with SQLite and the embedded broker.

docs/settings.md lists every variable; a test fails when it lags behind.
"""

import sys
from pathlib import Path
from urllib.parse import urlparse

import environ
import plotly
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from v2kb.local_state import local_secret

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

DATA_DIR = Path(env.str("V2KB_DATA_DIR", default=str(BASE_DIR / "data")))
# Checking a file, as commit hooks do, leaves nothing behind.
_KEEP = sys.argv[1:2] != ["check_spec"]
DEBUG = env.bool("V2KB_DEBUG", default=False)
BASE_URL = env.str("V2KB_BASE_URL", default="http://127.0.0.1:8000").rstrip("/")
SECRET_KEY = env.str("V2KB_SECRET_KEY", default="") or local_secret(DATA_DIR, "secret_key", keep=_KEEP)
MEANING_URL = env.str("V2KB_MEANING_URL", default="")
WORKER_TOKEN = env.str("V2KB_WORKER_TOKEN", default="") or local_secret(DATA_DIR, "worker_token", keep=_KEEP)
BROKER_URL = env.str("V2KB_BROKER_URL", default="embedded://")

_base = urlparse(BASE_URL)
if _base.scheme not in ("http", "https") or not _base.hostname:
    raise ImproperlyConfigured(f"V2KB_BASE_URL must look like https://host[:port], not {BASE_URL!r}")
ALLOWED_HOSTS = env.list("V2KB_ALLOWED_HOSTS", default=[_base.hostname, "127.0.0.1", "localhost"])
CSRF_TRUSTED_ORIGINS = [f"{_base.scheme}://{_base.netloc}"]
_https = _base.scheme == "https"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_filters",
    "template_partials",
    "csp",
    "axes",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "v2kb.core",
    "v2kb.api",
    "references",
    "evidence",
    "kernels",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "v2kb.core.middleware.BodyLimitMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "v2kb.core.middleware.RequestIdMiddleware",
    "v2kb.core.middleware.SignInMiddleware",
    "v2kb.core.middleware.MethodMiddleware",
    "v2kb.core.middleware.RefusalMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "v2kb.urls"
WSGI_APPLICATION = "v2kb.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "v2kb.core.context.frame",
            ],
        },
    }
]

DATABASES = {"default": env.db_url("V2KB_DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'v2kb.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA recursive_triggers=ON; PRAGMA foreign_keys=ON;"
        ),
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "core_cache"},
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "process"},
}

# Sign-in
AUTH_USER_MODEL = "core.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_VERBOSE = False

# Cookies and transport follow the base URL's scheme
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _https
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = env.bool("V2KB_SSL_REDIRECT", default=False)
SECURE_HSTS_SECONDS = 31_536_000 if _https else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("V2KB_BEHIND_PROXY", default=False) else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
DATA_UPLOAD_MAX_NUMBER_FILES = 2000

# Static files: ours, htmx from django-htmx, plotly.min.js from the plotly package
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("vendor", Path(plotly.__file__).parent / "package_data"),
]
WHITENOISE_USE_FINDERS = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = ["png", "gz", "br", "woff2"]

LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["v2kb.api.permissions.SignedIn"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "v2kb.api.parsers.StrictJSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_PAGINATION_CLASS": "v2kb.api.pagination.Pages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_THROTTLE_CLASSES": ["v2kb.api.throttles.UserThrottle"],
    "DEFAULT_THROTTLE_RATES": {
        "user": env.str("V2KB_API_RATE", default="6000/hour"),
        "token": env.str("V2KB_TOKEN_RATE", default="20/hour"),
    },
    # Without a proxy of our own the X-Forwarded-For header is whatever a client writes.
    "NUM_PROXIES": 1 if env.bool("V2KB_BEHIND_PROXY", default=False) else 0,
    "EXCEPTION_HANDLER": "v2kb.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
}
REST_KNOX = {"TOKEN_TTL": None, "AUTO_REFRESH": False, "TOKEN_LIMIT_PER_USER": 20}
SPECTACULAR_SETTINGS = {
    "TITLE": "v2kb",
    "DESCRIPTION": (
        "Evidence, specs and verdicts for GPU kernel teams. Every write goes through the same services as the pages."
    ),
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # Folded: with more than some 120 operations open at once, the viewer stops drawing after the first few.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none", "defaultModelsExpandDepth": 0, "filter": True},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "AnchorState": "kernels.models.Anchor.State",
        "ProposalState": "evidence.models.Proposal.State",
        "RunKind": "kernels.models.Run.Kind",
        "RunState": "kernels.models.Run.State",
        "SpecState": "v2kb.rules.states.SPEC_STATES",
        "SupersessionKind": "evidence.models.Supersession.Kind",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "v2kb.api.schema.forget_column_ranges",
        "v2kb.api.schema.add_key",
        "v2kb.api.schema.add_errors",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("V2KB_LOG_LEVEL", default="INFO")},
    "loggers": {"axes": {"level": "WARNING"}},
}

# Runs
RUN_LEASE_S = env.int("V2KB_RUN_LEASE_S", default=20)
RUN_PING_S = env.int("V2KB_RUN_PING_S", default=3)
RUN_TOTAL_S = env.int("V2KB_RUN_TOTAL_S", default=600)
RUN_LOG_BYTES = 512 * 1024
