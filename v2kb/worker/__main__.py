"""`python -m v2kb.worker`: arguments become environment settings, then Celery runs one solo worker."""

import argparse
import importlib
import os
import sys
from pathlib import Path


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m v2kb.worker", description="Runs kernels sent by a v2kb app.")
    parser.add_argument("--app-url", help="the app's address (V2KB_APP_URL)")
    parser.add_argument("--token-file", type=Path, help="file with the worker token (else V2KB_WORKER_TOKEN)")
    parser.add_argument("--queue", help="cpu, gpu.sm_90, gpu.sm_100 ... (V2KB_WORKER_QUEUE, default cpu)")
    parser.add_argument("--name", help="the name on the workers page (V2KB_WORKER_NAME)")
    parser.add_argument("--broker-url", help="embedded://, amqp://... or redis://... (V2KB_BROKER_URL)")
    parser.add_argument("--data-dir", type=Path, help="folder of the embedded broker (V2KB_DATA_DIR)")
    parser.add_argument("--log-level", default="INFO")
    options = parser.parse_args(arguments)
    for name, value in (
        ("V2KB_APP_URL", options.app_url),
        ("V2KB_WORKER_QUEUE", options.queue),
        ("V2KB_WORKER_NAME", options.name),
        ("V2KB_BROKER_URL", options.broker_url),
        ("V2KB_DATA_DIR", options.data_dir),
        ("V2KB_WORKER_TOKEN", options.token_file and _token(parser, options.token_file)),
    ):
        if value:
            os.environ[name] = str(value)
    module = importlib.import_module("v2kb.worker.app")  # reads the environment set above
    module.app.worker_main(
        ["worker", "-Q", module.settings.queue, "--pool", "solo", "--prefetch-multiplier", "1", "--without-gossip",
         "--without-mingle", "--without-heartbeat", "--loglevel", options.log_level,
         "-n", f"{module.settings.name}@%h"]
    )  # fmt: skip


def _token(parser: argparse.ArgumentParser, path: Path) -> str:
    try:
        token = path.read_text().strip()
    except OSError as error:
        parser.error(f"--token-file: {path} can't be read ({error.strerror}).")
    if not token:
        parser.error(f"--token-file: {path} is empty.")
    return token


if __name__ == "__main__":
    main(sys.argv[1:])
