"""One way to say what is wrong with a field and what to do about it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """`field` is a path such as `scope.m` or `numbers[0].unit`; `fix` says what the person should do."""

    field: str
    message: str
    fix: str = ""

    def under(self, prefix: str) -> "Problem":
        """Return the same problem seen from the document that holds this one at `prefix`."""
        if not prefix:
            return self
        joint = "" if self.field.startswith("[") or not self.field else "."
        return Problem(f"{prefix}{joint}{self.field}", self.message, self.fix)
