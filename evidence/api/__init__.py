"""REST of evidence: levers, rows with their revisions, proposals, flags, import."""

from rest_framework.routers import BaseRouter

from evidence.api.experiments import ExperimentViewSet
from evidence.api.flags import FlagViewSet
from evidence.api.import_jobs import ExportViewSet, ImportJobViewSet
from evidence.api.imports import ImportViewSet
from evidence.api.levers import LeverViewSet
from evidence.api.proposals import ProposalViewSet
from evidence.api.rows import RowViewSet
from evidence.api.searches import SavedSearchViewSet
from evidence.api.terms import TermViewSet


def register(router: BaseRouter) -> None:
    """Add this app's addresses to the site's router."""
    router.register("levers", LeverViewSet, basename="lever")
    router.register("terms", TermViewSet, basename="term")
    router.register("evidence", RowViewSet, basename="evidence-row")
    router.register("import-jobs", ImportJobViewSet, basename="import-job")
    router.register("exports", ExportViewSet, basename="export")
    router.register("experiments", ExperimentViewSet, basename="experiment")
    router.register("flags", FlagViewSet, basename="flag")
    router.register("saved-searches", SavedSearchViewSet, basename="saved-search")
    router.register("proposals", ProposalViewSet, basename="proposal")
    router.register("evidence-imports", ImportViewSet, basename="evidence-import")
