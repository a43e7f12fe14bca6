"""REST of the import of a map."""

import json
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from evidence.importers.load import MAX_MAP_BYTES, MapPlan, load_map, try_map
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import Document, Input, Text, read


class NewImport(Input):
    """A map as text and, where there is one, its typing document."""

    name = Text(max_length=200, help_text="File name; the reference document is called after it.")
    text = Text(max_length=MAX_MAP_BYTES, trim_whitespace=False)
    typing = Document(required=False, help_text="Levers, and per code what no column says.")
    source = Text(max_length=300, allow_blank=True, default="")
    dry_run = serializers.BooleanField(default=False)
    skip_unreadable = serializers.BooleanField(default=False)


class ImportLine(serializers.Serializer):
    """One row of the map and what the import does with it."""

    line = serializers.IntegerField(source="row.line")
    code = serializers.CharField(source="row.code")
    state = serializers.CharField(help_text="new, changed or unchanged")
    verdict = serializers.CharField(source="content.verdict")
    title = serializers.CharField(source="content.title")
    missing = serializers.SerializerMethodField()
    unreadable_numbers = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField()

    def get_missing(self, found: Any) -> list[str]:
        """Fields that the verdict should have and lacks."""
        return [problem.field for problem in found.missing]


class UnreadableLine(serializers.Serializer):
    """A line that can't be taken over."""

    line = serializers.IntegerField()
    column = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    fix = serializers.CharField()


class ImportReport(serializers.Serializer):
    """What an import does, or did."""

    done = serializers.SerializerMethodField()
    document = serializers.CharField(source="slug")
    counts = serializers.DictField(child=serializers.IntegerField())
    rows = ImportLine(source="fit", many=True)
    unreadable = UnreadableLine(source="problems", many=True)
    notes = serializers.ListField(source="map.notes", child=serializers.CharField())
    guidelines = serializers.SerializerMethodField()
    proposed = serializers.SerializerMethodField()

    def get_done(self, plan: MapPlan) -> bool:
        """False for a dry run."""
        return plan.report is not None

    def get_guidelines(self, plan: MapPlan) -> dict[str, int]:
        """Kind -> number of measurement rules, contract steps and known gaps."""
        return {kind: len(items) for kind, items in plan.map.guidelines.items()}

    def get_proposed(self, plan: MapPlan) -> list[str]:
        """Codes for which a change was proposed."""
        return plan.report.proposed if plan.report else []


class ImportViewSet(viewsets.ViewSet):
    """Import an evidence map: a curator's right."""

    @extend_schema(request=NewImport, responses=ImportReport)
    def create(self, request: Request) -> Response:
        """Import a map; with `dry_run` only show what would happen. Unreadable lines refuse all, unless left out."""
        data, actor = read(NewImport, request), actor_from_request(request, "api")
        typing = json.dumps(data["typing"]).encode() if data.get("typing") else None
        files = {"name": data["name"], "data": data["text"].encode(), "typing": typing}
        if data["dry_run"]:
            plan, refusal = try_map(actor, source=data["source"], **files)
            if refusal:
                raise refusal
            return Response(ImportReport(plan).data)
        plan = load_map(actor, source=data["source"], skip_unreadable=data["skip_unreadable"], **files)
        return Response(ImportReport(plan).data)
