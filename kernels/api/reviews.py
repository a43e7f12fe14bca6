"""REST of a review: comments, positions, signatures of new mechanisms."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.api.revisions import NUMBER_OF_REVISION
from kernels.api.specs import CODE_OF_SPEC, revision_of
from kernels.models import Comment, MechanismMark, Position
from kernels.models.review import Aspect
from kernels.services import reviews
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import Input, Text, engine_of, find, read

MAX_ID = 2**53


class CommentSerializer(serializers.ModelSerializer):
    """A comment on a choice or a section of a revision."""

    author = serializers.CharField(source="author.username")
    engine = engine_of("author")
    parent = serializers.IntegerField(source="parent_id", allow_null=True)

    class Meta:
        model = Comment
        fields = ["id", "place", "parent", "quote", "text", "author", "engine", "at"]


class PositionSerializer(serializers.ModelSerializer):
    """A position; the newest of a user and aspect counts."""

    user = serializers.CharField(source="user.username")
    engine = engine_of("user")

    class Meta:
        model = Position
        fields = ["user", "engine", "aspect", "position", "note", "at"]


class SignatureSerializer(serializers.ModelSerializer):
    """A curator's word that the mechanism of a choice, at this hash, is new."""

    user = serializers.CharField(source="user.username")
    engine = engine_of("user")

    class Meta:
        model = MechanismMark
        fields = ["choice_id", "choice_hash", "user", "engine", "reason", "at"]


class NewComment(Input):
    """A comment; `place` is a choice id such as C1 or a section such as smem."""

    place = Text(max_length=40)
    text = Text(max_length=reviews.MAX_COMMENT)
    quote = Text(max_length=2000, default="", allow_blank=True)
    parent = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=MAX_ID)


class NewPosition(Input):
    """A position on one aspect."""

    aspect = serializers.ChoiceField(choices=Aspect.choices)
    position = serializers.ChoiceField(choices=Position.Kind.choices)
    note = Text(max_length=4000, default="", allow_blank=True)


class NewSignature(Input):
    """What is new against the dead rows."""

    choice_id = Text(max_length=24)
    reason = Text(max_length=4000)


class OfRevision(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Things that hang on one revision."""

    def get_queryset(self):
        return self.queryset.filter(revision=revision_of(self.kwargs["code"], self.kwargs["number"]))


@extend_schema(parameters=[CODE_OF_SPEC, NUMBER_OF_REVISION])
class CommentViewSet(OfRevision):
    """Comments on a revision, oldest first."""

    queryset = Comment.objects.select_related("author").order_by("id")
    serializer_class = CommentSerializer

    @extend_schema(request=NewComment, responses={201: CommentSerializer})
    def create(self, request: Request, code: str, number: str) -> Response:
        """Comment, or answer the comment `parent`."""
        revision, sent = revision_of(code, number), read(NewComment, request)
        key = sent.pop("parent", None)
        known = Comment.objects.select_related("revision")
        parent = find(known, "review.no_comment", f"comment {key}", pk=key) if key else None
        made = reviews.comment(actor_from_request(request, "api"), revision=revision, parent=parent, **sent)
        return Response(CommentSerializer(made).data, status=201)


@extend_schema(parameters=[CODE_OF_SPEC, NUMBER_OF_REVISION])
class PositionViewSet(OfRevision):
    """Positions on a revision, oldest first."""

    queryset = Position.objects.select_related("user").order_by("id")
    serializer_class = PositionSerializer

    @extend_schema(request=NewPosition, responses={201: PositionSerializer})
    def create(self, request: Request, code: str, number: str) -> Response:
        """Take a position. The last approval that is needed approves the spec, if its gate passes."""
        taken = reviews.take_position(
            actor_from_request(request, "api"), revision=revision_of(code, number), **read(NewPosition, request)
        )
        return Response(PositionSerializer(taken).data, status=201)


@extend_schema(parameters=[CODE_OF_SPEC, NUMBER_OF_REVISION])
class SignatureViewSet(OfRevision):
    """Signatures of new mechanisms on a revision, oldest first."""

    queryset = MechanismMark.objects.select_related("user").order_by("id")
    serializer_class = SignatureSerializer

    @extend_schema(request=NewSignature, responses={201: SignatureSerializer})
    def create(self, request: Request, code: str, number: str) -> Response:
        """Sign the mechanism of a choice, as it stands, as new."""
        mark = reviews.sign_mechanism(
            actor_from_request(request, "api"), revision=revision_of(code, number), **read(NewSignature, request)
        )
        return Response(SignatureSerializer(mark).data, status=201)
