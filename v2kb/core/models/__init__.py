from v2kb.core.models.activity import Activity, ActivityHead
from v2kb.core.models.search import SearchEntry, SearchWord
from v2kb.core.models.sent import SentWrite
from v2kb.core.models.user import User

__all__ = ["Activity", "ActivityHead", "SearchEntry", "SearchWord", "SentWrite", "User"]
