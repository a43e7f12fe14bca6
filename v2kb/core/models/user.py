from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person, or an agent: an agent is a user whose engine has a name."""

    engine_name = models.CharField(
        "engine",
        max_length=60,
        blank=True,
        help_text="Set for an agent: the model or tool that acts, for example 'codex'.",
    )
    must_change_password = models.BooleanField(
        default=False, help_text="The password was issued for one use; the next sign-in asks for a new one."
    )
    time_zone = models.CharField(max_length=60, default="UTC")

    @property
    def display_name(self) -> str:
        """The name, and of an agent its engine: `Dora (codex)`."""
        name = self.get_full_name() or self.username
        return f"{name} ({self.engine_name})" if self.is_agent else name

    @property
    def is_agent(self) -> bool:
        return bool(self.engine_name)
