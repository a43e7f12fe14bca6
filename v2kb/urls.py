"""All addresses of the site."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path
from django.views.generic import TemplateView

from kernels.views import home, search
from v2kb.core import pages

handler400 = "v2kb.core.pages.bad_request"

urlpatterns = [
    path("", home.home, name="home"),
    path("search/", search.search, name="search"),
    path("", include("kernels.urls")),
    path("evidence/", include("evidence.urls")),
    path("references/", include("references.urls")),
    path("api/", include("v2kb.api.urls")),
    path("worker/v1/", include("kernels.worker_urls")),
    path("admin/", admin.site.urls),
    path("sign-in/", auth_views.LoginView.as_view(), name="login"),
    path("sign-out/", auth_views.LogoutView.as_view(), name="logout"),
    path("password/", pages.PasswordChange.as_view(), name="password_change"),
    path("help/", TemplateView.as_view(template_name="help.html"), name="help"),
    path("health/", pages.health, name="health"),
]

if settings.DEBUG:
    urlpatterns.append(path("styleguide/", TemplateView.as_view(template_name="styleguide.html"), name="styleguide"))
