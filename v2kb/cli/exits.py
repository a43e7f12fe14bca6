"""How a command ends."""

CLEAR, WARNINGS, BLOCKED, UNREADABLE, TOO_OLD, QUEUED = range(6)


class CliError(Exception):
    """What stops a command: a sentence, what to do, and how the command ends."""

    def __init__(self, message: str, fix: str = "", code: int = UNREADABLE) -> None:
        super().__init__(message)
        self.message, self.fix, self.code = message, fix, code
