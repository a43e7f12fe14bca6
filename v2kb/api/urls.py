"""REST: /api/v1/, its OpenAPI document and viewer, tokens."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView

import evidence.api
import kernels.api
import references.api
from v2kb.api import docs, errors, me, tokens
from v2kb.api.routers import Router

router = Router()
for api in (references.api, evidence.api, kernels.api):
    api.register(router)

urlpatterns = [
    path("v1/", include(router.urls)),
    path("v1/me/", me.MeView.as_view(), name="api_me"),
    path("v1/tokens/", tokens.TokenView.as_view(), name="api_tokens"),
    re_path(r"^v1/tokens/(?P<key>[A-Za-z0-9]{1,40})/$", tokens.TokenDetail.as_view(), name="api_token"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("", docs.DocsView.as_view(), name="api_docs"),
    re_path("", errors.no_such_address),
]
