"""`make services-test`: the suite on PostgreSQL, then three dispatch tests on each broker. Says what is missing."""

import os
import subprocess
import sys

import psycopg

DATABASE = os.environ.get("V2KB_TEST_DATABASE_URL", "postgres://root@127.0.0.1:5432/postgres")
SMOKE = "tests/dispatch/test_smoke.py"
BROKERS = {
    "RabbitMQ": os.environ.get("V2KB_TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672//"),
    "Redis": os.environ.get("V2KB_TEST_REDIS_URL", "redis://127.0.0.1:6379/0"),
}


def run(title: str, arguments: list[str], **environment: str) -> int:
    """Run pytest with these arguments; returns its exit status."""
    print(f"-- {title}", flush=True)
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], env={**os.environ, **environment}).returncode


def main() -> int:
    try:
        psycopg.connect(DATABASE, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        print(f"PostgreSQL does not answer at {DATABASE}: {error}\nSet V2KB_TEST_DATABASE_URL.", file=sys.stderr)
        return 1
    status = run(
        "the suite on PostgreSQL",
        [
            "-m",
            "not browser and not dispatch",
            "--migrations",
            "-n",
            "auto",
            "--ignore=tests/rules",
            "--ignore=tests/worker",
        ],
        V2KB_DATABASE_URL=DATABASE,
    )
    for name, url in BROKERS.items():
        status = status or run(f"dispatch on {name}", [SMOKE], V2KB_DATABASE_URL=DATABASE, V2KB_TEST_BROKER_URL=url)
    return status


if __name__ == "__main__":
    sys.exit(main())
