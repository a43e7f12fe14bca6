"""Fills the disk."""

# expect: CRASHED
# mode: check
# seconds: 60
# message: OSError


def run(inputs):
    block = b"x" * (16 * 1024 * 1024)
    number = 0
    while True:
        number += 1
        with open(f"/tmp/{number}", "wb") as file:
            file.write(block)
