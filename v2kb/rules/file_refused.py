"""Why a file that somebody sends can't be used."""


class FileRefused(Exception):
    """A file can't be used. `code` is stable; `message` says what is wrong; `fix` says what to do."""

    def __init__(self, code: str, message: str, fix: str) -> None:
        self.code, self.message, self.fix = code, message, fix
        super().__init__(message)
