"""The broker without a server: nothing lost, nothing half read, messages of dead consumers come back."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from queue import Empty

import pytest
from celery import Celery
from kombu import Connection

from v2kb import broker
from v2kb.broker import DELIVERY_LIMIT
from v2kb.broker.embedded import Folder

ROOT = Path(__file__).resolve().parents[2]


def connection(data_dir):
    broker.register_embedded()
    return Connection("embedded://", transport_options={"data_dir": str(data_dir), "polling_interval": 0.01})


def message(number=0):
    return {"body": str(number), "properties": {"delivery_tag": f"tag-{number}"}}


def run_python(code, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        **options,
    )


CONSUMER = """
    import sys
    from queue import Empty
    from kombu import Connection
    from v2kb import broker
    broker.register_embedded()
    with Connection("embedded://", transport_options={"data_dir": sys.argv[1], "polling_interval": 0.01}) as conn:
        queue = conn.SimpleQueue("cpu")
        try:
            while True:
                got = queue.get(timeout=float(sys.argv[2]))
                print(got.payload["n"], flush=True)
                got.ack()
        except queue.Empty:
            pass
"""


def test_five_thousand_messages_reach_two_consumers_once_each(tmp_path):
    consumers = [run_python(CONSUMER, tmp_path, 3) for _ in range(2)]
    with connection(tmp_path) as conn:
        queue = conn.SimpleQueue("cpu")
        for number in range(5000):
            queue.put({"n": number})
    lines = [[int(line) for line in process.communicate(timeout=120)[0].split()] for process in consumers]
    assert sorted(lines[0] + lines[1]) == list(range(5000))
    assert all(own == sorted(own) for own in lines), "each consumer sees messages in the order of sending"
    assert lines[0]
    assert lines[1]
    assert not list((tmp_path / "broker").glob("claimed/*/*.msg"))
    assert not list((tmp_path / "broker" / "broken").iterdir())


HOLDER = """
    import sys, time
    from kombu import Connection
    from v2kb import broker
    broker.register_embedded()
    conn = Connection("embedded://", transport_options={"data_dir": sys.argv[1]})
    got = conn.SimpleQueue("cpu").get(timeout=10)
    print(got.payload["n"], flush=True)
    time.sleep(600)
"""


def test_the_message_of_a_killed_consumer_comes_back(tmp_path):
    with connection(tmp_path) as conn:
        queue = conn.SimpleQueue("cpu")
        queue.put({"n": 7})
        holder = run_python(HOLDER, tmp_path)
        assert holder.stdout.readline().strip() == "7"
        with pytest.raises(queue.Empty):
            queue.get(timeout=1.5)  # longer than the recovery interval: a living consumer keeps its message
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        again = queue.get(timeout=10)
        assert again.payload == {"n": 7}
        again.ack()
        with pytest.raises(queue.Empty):
            queue.get(timeout=0.2)


def test_closing_without_acknowledging_gives_the_message_back_at_once(tmp_path):
    with connection(tmp_path) as conn:
        conn.SimpleQueue("cpu").put({"n": 1})
    with connection(tmp_path) as conn:
        conn.SimpleQueue("cpu").get(timeout=5)
    assert len(list((tmp_path / "broker" / "queues" / "cpu").iterdir())) == 1
    assert not list((tmp_path / "broker" / "claimed").iterdir())


@pytest.mark.parametrize(
    "content", [b"", b'{"body": "half', b"\xff\xfe garbage", b"[]", b"null", b'{"properties": {}}']
)
def test_a_file_that_is_no_message_is_set_aside_and_the_next_one_is_read(tmp_path, content):
    folder = Folder(tmp_path / "broker")
    folder.put("cpu", message(1))
    good = next(folder.queue("cpu").iterdir())
    (folder.queue("cpu") / good.name.replace(good.name[:5], "00000", 1)).write_bytes(content)
    (folder.queue("cpu") / "0-stray.txt").write_bytes(content)
    payload, _ = folder.take("cpu")
    assert payload == message(1)
    assert len(list((tmp_path / "broker" / "broken").iterdir())) == 2


def test_a_message_being_written_is_not_seen(tmp_path, monkeypatch):
    folder = Folder(tmp_path / "broker")
    seen = []

    def look(*_):
        with pytest.raises(Empty):
            folder.take("cpu")
        seen.append(True)

    monkeypatch.setattr(os, "fsync", look)
    folder.put("cpu", message())
    assert seen
    assert folder.take("cpu")[0] == message()


def test_a_message_that_ends_its_consumer_every_time_is_set_aside(tmp_path):
    sender = Folder(tmp_path / "broker")
    sender.put("cpu", message(1))
    for _ in range(DELIVERY_LIMIT + 1):
        consumer = Folder(tmp_path / "broker")
        consumer.take("cpu")
        os.close(consumer._lock_fd)  # what the kernel does when the process dies
        sender.recover()
    with pytest.raises(Empty):
        sender.take("cpu")
    assert len(list((tmp_path / "broker" / "broken").iterdir())) == 1


def test_a_returned_message_keeps_its_place(tmp_path):
    folder = Folder(tmp_path / "broker")
    for number in range(3):
        folder.put("cpu", message(number))
    _, claimed = folder.take("cpu")
    folder.give_back(claimed, delivered=True)
    assert [folder.take("cpu")[0]["body"] for _ in range(3)] == ["0", "1", "2"]


@pytest.mark.parametrize("name", ["../cpu", "a/b", "", ".hidden", "a b"])
def test_queue_names_that_leave_the_folder_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="refused"):
        Folder(tmp_path / "broker").put(name, message())
    assert not (tmp_path / "broker" / "cpu").exists()


def test_queues_do_not_mix(tmp_path):
    folder = Folder(tmp_path / "broker")
    folder.put("cpu", message(1))
    with pytest.raises(Empty):
        folder.take("gpu.sm_100")
    assert folder.take("cpu")[0] == message(1)


def test_a_celery_app_sends_by_name_and_the_kwargs_arrive(tmp_path):
    app = Celery("sender")
    broker.configure(app, "embedded://", tmp_path)
    app.send_task("v2kb.worker.execute_run", queue="gpu.sm_100", kwargs={"run_id": "r1"}, retry=False)
    payload, _ = Folder(tmp_path / "broker").take("gpu.sm_100")
    assert payload["headers"]["task"] == "v2kb.worker.execute_run"
    assert payload["headers"]["kwargsrepr"] == "{'run_id': 'r1'}"


def test_settings_for_rabbitmq_and_redis():
    rabbit = Celery("a")
    broker.configure(rabbit, "amqp://guest@localhost//", "/nowhere")
    assert rabbit.conf.task_acks_late
    assert rabbit.conf.worker_prefetch_multiplier == 1
    assert {q.queue_arguments["x-queue-type"] for q in rabbit.conf.task_queues} == {"quorum"}
    assert {q.queue_arguments["x-delivery-limit"] for q in rabbit.conf.task_queues} == {DELIVERY_LIMIT}
    assert rabbit.conf.broker_heartbeat == 0, "a worker busy with one long run can't send heartbeats"
    redis = Celery("b")
    broker.configure(redis, "redis://localhost/0", "/nowhere")
    assert redis.conf.broker_transport_options["visibility_timeout"] >= 6 * 3600
    assert not redis.conf.task_queues[0].queue_arguments
    for app in (rabbit, redis):
        assert app.conf.broker_connection_max_retries is None, "a worker outlasts any absence of its broker"
        assert app.conf.broker_transport_options["max_retries"] == 0, "a sender waits for none"


def test_an_unknown_broker_is_refused_by_name():
    with pytest.raises(ValueError, match="embedded://"):
        broker.configure(Celery("c"), "filesystem://", "/nowhere")


def test_an_idle_consumer_starts_a_message_promptly(tmp_path):
    consumer = run_python(CONSUMER, tmp_path, 10)
    with connection(tmp_path) as conn:
        queue = conn.SimpleQueue("cpu")
        queue.put({"n": 1})
        assert consumer.stdout.readline().strip() == "1"
        waited = []
        for number in range(5):
            start = time.monotonic()
            queue.put({"n": number})
            consumer.stdout.readline()
            waited.append(time.monotonic() - start)
    consumer.kill()
    consumer.wait()
    assert sorted(waited)[2] < 0.5
