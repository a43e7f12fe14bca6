"""REST of waivers: why a finding of the spec rules may stand, and what reviewers say of it."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.api.specs import CODE_OF_SPEC, spec_of
from kernels.models import FindingWaiver, WaiverAnswer
from kernels.services import waivers
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Input, Text, find, read


class AnswerSerializer(serializers.ModelSerializer):
    """What a reviewer, or who asked, said; the newest counts."""

    answer = serializers.CharField(source="kind")
    user = serializers.CharField(source="user.username")

    class Meta:
        model = WaiverAnswer
        fields = ["answer", "user", "note", "at"]


class WaiverSerializer(serializers.ModelSerializer):
    """A waiver with its answers, oldest first; `state` is asked, agreed, refused or withdrawn."""

    asked_by = serializers.CharField(source="asked_by.username")
    answers = AnswerSerializer(many=True)
    state = serializers.SerializerMethodField()

    class Meta:
        model = FindingWaiver
        fields = ["id", "rule", "path", "message", "reason", "asked_by", "asked_at", "state", "answers"]

    def get_state(self, waiver: FindingWaiver) -> str:
        answers = list(waiver.answers.all())
        return answers[-1].kind if answers else "asked"


class NewWaiver(Input):
    """Which finding of the newest revision, and why it may stand."""

    rule = Text(max_length=20)
    path = Text(max_length=160)
    reason = Text(max_length=waivers.MAX_REASON)


class NewAnswer(Input):
    """An answer; to refuse needs a note."""

    answer = serializers.ChoiceField(choices=WaiverAnswer.Kind.choices)
    note = Text(max_length=waivers.MAX_REASON, default="", allow_blank=True)


@extend_schema(parameters=[CODE_OF_SPEC])
class WaiverViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Waivers of a spec's findings, oldest first."""

    lookup_value_regex = NUMBER
    queryset = FindingWaiver.objects.select_related("asked_by", "spec").prefetch_related("answers__user").order_by("id")
    serializer_class = WaiverSerializer

    def get_queryset(self):
        return self.queryset.filter(spec=spec_of(self.kwargs["code"]))

    @extend_schema(request=NewWaiver, responses={201: WaiverSerializer})
    def create(self, request: Request, code: str) -> Response:
        """Ask that a finding of the newest revision may stand."""
        made = waivers.ask_waiver(actor_from_request(request, "api"), spec=spec_of(code), **read(NewWaiver, request))
        return Response(WaiverSerializer(made).data, status=201)

    @extend_schema(request=NewAnswer, responses={201: WaiverSerializer})
    @action(detail=True, methods=["post"], url_path="answers")
    def answers(self, request: Request, code: str, pk: str) -> Response:
        """Agree, refuse, or take the waiver back."""
        waiver = find(self.get_queryset(), "waiver.none", f"waiver {pk}", pk=pk)
        waivers.answer_waiver(actor_from_request(request, "api"), waiver=waiver, **read(NewAnswer, request))
        return Response(WaiverSerializer(self.get_queryset().get(pk=waiver.pk)).data, status=201)
