"""The page that shows the OpenAPI document."""

from drf_spectacular.views import SpectacularSwaggerSplitView


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI from the application's own static files, without inline scripts or styles."""

    template_name = "api/docs.html"
    url_name = "schema"
    title = "v2kb API"
