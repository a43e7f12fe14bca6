"""Pages of a list: `?page=2&page_size=100`."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """50 a page, at most 200."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
