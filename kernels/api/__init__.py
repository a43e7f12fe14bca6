"""REST of ops, specs, reviews, kernels, anchors, runs and workers. One module per noun."""

from rest_framework.routers import BaseRouter

from kernels.api.anchors import AnchorViewSet
from kernels.api.calculators import CalculatorViewSet
from kernels.api.kernels import KernelViewSet, VersionViewSet
from kernels.api.ops import ContractViewSet, OpViewSet, StopViewSet
from kernels.api.reviews import CommentViewSet, PositionViewSet, SignatureViewSet
from kernels.api.revisions import GateResultViewSet, RevisionViewSet
from kernels.api.runs import RunViewSet
from kernels.api.searches import DesignSearchViewSet, SearchReceiptViewSet
from kernels.api.snapshot import SnapshotViewSet
from kernels.api.specs import SpecViewSet
from kernels.api.waivers import WaiverViewSet
from kernels.api.workers import QueueViewSet, WorkerViewSet
from v2kb.core.rest import NUMBER, SLUG

OP = rf"ops/(?P<slug>{SLUG})"
SPEC = r"specs/(?P<code>[A-Za-z]\d{1,9})"
REVISION = rf"{SPEC}/revisions/(?P<number>{NUMBER})"
KERNEL = rf"kernels/(?P<slug>{SLUG})"


def register(router: BaseRouter) -> None:
    """Add this app's addresses to the site's router."""
    router.register("ops", OpViewSet, basename="op")
    router.register(rf"{OP}/contracts", ContractViewSet, basename="op-contract")
    router.register(rf"{OP}/stops", StopViewSet, basename="op-stop")
    router.register("specs", SpecViewSet, basename="spec")
    router.register("design-search", DesignSearchViewSet, basename="design-search")
    router.register(rf"{SPEC}/searches", SearchReceiptViewSet, basename="search-receipt")
    router.register(rf"{SPEC}/waivers", WaiverViewSet, basename="spec-waiver")
    router.register(rf"{SPEC}/revisions", RevisionViewSet, basename="spec-revision")
    router.register(rf"{REVISION}/gate-results", GateResultViewSet, basename="gate-result")
    router.register(rf"{REVISION}/comments", CommentViewSet, basename="review-comment")
    router.register(rf"{REVISION}/positions", PositionViewSet, basename="review-position")
    router.register(rf"{REVISION}/signatures", SignatureViewSet, basename="review-signature")
    router.register("repository-snapshot", SnapshotViewSet, basename="repository-snapshot")
    router.register("kernels", KernelViewSet, basename="kernel")
    router.register(rf"{KERNEL}/versions", VersionViewSet, basename="kernel-version")
    router.register("anchors", AnchorViewSet, basename="anchor")
    router.register("calculators", CalculatorViewSet, basename="calculator")
    router.register("runs", RunViewSet, basename="run")
    router.register("workers", WorkerViewSet, basename="worker")
    router.register("queues", QueueViewSet, basename="queue")
