"""Returns an object that would run code where it is unpickled."""

# expect: FAIL_SHAPE
# mode: check
# message: is a Payload

import os


class Payload:
    def __reduce__(self):
        return os.system, ("touch /tmp/v2kb-pickle-was-read",)


def run(inputs):
    return {"y": Payload()}
