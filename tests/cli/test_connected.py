"""The command against a real server: sign-in, sync, writes, the outbox, and a kill of either in the middle."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from knox.models import AuthToken

from evidence.models import EvidenceRow, ExperimentEntry, Proposal, Term
from evidence.services import accept_proposal, propose_change
from evidence.services.terms import add_term_alias
from kernels.models import Kernel, Op, Run, SearchReceipt, Spec, Submission
from tests import factories as f
from tests.cli.conftest import as_schema
from tests.cli.site import ENGINE, Site
from v2kb.cli import making, writes
from v2kb.cli import server as http
from v2kb.cli.commands import watch
from v2kb.cli.commands.sync import news_of
from v2kb.core.models import Activity
from v2kb.rules.spec_document import empty_row
from v2kb.rules.spec_markdown.writing import write_markdown

ROOT = Path(__file__).resolve().parents[2]
RECORD = ("record", "--verdict", "NULL", "--why", "flat", "--env", "B200")
pytestmark = pytest.mark.django_db(transaction=True)


def changed_by_others(row: EvidenceRow, **changes: str) -> None:
    content = {**row.head.content, **changes}
    made = propose_change(f.designer(), row, base_hash=row.head.content_hash, content=content, reason="measured")
    accept_proposal(f.actor("cleo", "curator"), made.pk)


# --- sign-in ---


def test_a_token_is_kept_for_its_user_alone_and_never_shown(site, tmp_path):
    said = site("login", stdin=site.token)
    assert (said.code, f"as ada, engine {ENGINE}" in said.out) == (0, True)
    kept = tmp_path / "config" / "v2kb" / "tokens.toml"
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert site.token in kept.read_text()
    shown = "".join(
        site(*words).out + site(*words).err for words in (["doctor"], RECORD, ["login", "--json"], ["sync"])
    )
    assert site.token not in shown
    assert not [path for path in site.folder.rglob("*") if path.is_file() and site.token in path.read_text()]
    assert site("logout").code == 0
    assert site.token not in kept.read_text()
    assert (site("logout").code, site("sync").code) == (1, 3)


def test_a_logout_revokes_its_own_token_alone(site, agent):
    other = AuthToken.objects.create(user=agent)[0]
    said = as_schema("logout", site("logout", "--json").out)
    assert (said["forgotten"], said["revoked"], said["why"]) == (True, True, "")
    assert list(AuthToken.objects.filter(user=agent)) == [other]


def test_a_logout_of_here_alone_leaves_the_token_for_others(site, monkeypatch):
    said = site("logout", "--local")
    assert (said.code, "still holds there" in said.out) == (0, True)
    monkeypatch.setenv("V2KB_TOKEN", site.token)
    assert site("sync").code == 0
    assert "V2KB_TOKEN" in site("logout").err


def test_a_logout_that_reaches_no_server_says_so_and_forgets(site, tmp_path):
    site.gate.shut()
    said = site("logout")
    assert (said.code, "still holds there" in said.out, "can't be reached" in said.err) == (1, True, True)
    assert site.token not in (tmp_path / "config" / "v2kb" / "tokens.toml").read_text()
    assert AuthToken.objects.count() == 1


def test_a_token_that_was_revoked_already_is_forgotten(site):
    AuthToken.objects.all().delete()
    assert as_schema("logout", site("logout", "--json").out)["revoked"] is True


@pytest.mark.parametrize("typed", ["", "two words", "no-such-token", "x" * 600])
def test_a_token_that_the_server_does_not_know_is_not_kept(site, tmp_path, typed):
    (tmp_path / "config" / "v2kb" / "tokens.toml").unlink()
    assert site("login", stdin=typed).code == 3
    assert not (tmp_path / "config" / "v2kb" / "tokens.toml").exists()


def test_a_redirect_gets_no_token(site):
    seen = []

    class Elsewhere(threading.Thread):
        def run(self):
            with socket.create_server(("127.0.0.1", 0)) as listener:
                self.port = listener.getsockname()[1]
                ready.set()
                client, _ = listener.accept()
                with client:
                    seen.append(client.recv(65536).decode())
                    client.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/\r\nContent-Length: 0\r\n\r\n")

    ready = threading.Event()
    thread = Elsewhere(daemon=True)
    thread.start()
    ready.wait(10)
    said = site("login", "--server", f"http://127.0.0.1:{thread.port}", stdin="abc")
    assert (said.code, "the token is not sent there" in said.err) == (3, True)
    assert "Token abc" in seen[0]
    assert site.token not in seen[0]


def test_plain_http_to_another_machine_is_refused_unless_asked_for(site):
    refused = site("login", "--server", "http://v2kb.invalid", stdin="abc")
    assert (refused.code, "plain http" in refused.err) == (3, True)
    assert site("login", "--server", "http://v2kb.invalid", "--plain-http", stdin="abc").code == 5  # no such host


def test_a_token_of_the_environment_goes_where_the_environment_says(site, monkeypatch):
    assert site("logout", "--local").code == 0
    monkeypatch.setenv("V2KB_TOKEN", site.token)
    assert site("sync").code == 0
    (site.folder / ".v2kb" / "config.toml").write_text('server = "https://elsewhere.invalid"\n')
    refused = site("sync")
    assert (refused.code, "V2KB_SERVER" in refused.err) == (3, True)
    monkeypatch.setenv("V2KB_SERVER", site.server)
    assert site("sync").code == 0


@pytest.mark.parametrize(
    "address",
    [
        "ftp://x",
        "v2kb",
        "http://u:p@x",
        "http://x:99999999",
        "http://",
        "https://x/?a=1",
        "http://[",
        "http://x:0",
        "http://b\u00fccher.example",
        "http://x/a b",
        "http://x\x7f",
    ],
)
def test_an_address_that_is_none(site, address):
    assert site("init", "--server", address).code == 3


# --- sync ---


def test_sync_says_what_changed_and_asks_for_no_more_than_that(site):
    first = site("sync")
    snapshot = site.folder / ".v2kb" / "snapshot.jsonl"
    text = snapshot.read_text()
    assert (first.code, "The snapshot renewed: 1 rows" in first.out) == (0, True)
    assert "is what the server has" in site("sync").out
    assert snapshot.read_text() == text
    changed_by_others(site.row, not_checked="Rows above 4096.")
    f.evidence_row(lever="another", title="Another one")
    said = site("sync").out
    for news in (f"{site.row.code} revision 2: not_checked", "new row U1 UNTESTED Another one", "new lever another"):
        assert news in said
    assert site("show", site.row.code).code == 0


def test_a_changed_vocabulary_is_news():
    old = {"vocabulary": [{"kind": "vocabulary", "aliases": {}, "causes": []}]}
    new = {"vocabulary": [{"kind": "vocabulary", "aliases": {"arch": {"b200": "sm_100"}}, "causes": []}]}
    assert (news_of(old, new), news_of(new, new)) == (["the vocabulary changed"], [])


def test_a_sync_makes_the_index_that_reading_needs(site, monkeypatch, tmp_path):
    made, make = [], making.make_index
    monkeypatch.setattr(making, "make_index", lambda *given: (made.append(given), make(*given)))
    assert site("sync").code == 0
    assert len(made) == 1
    assert [site(*words).code for words in (["show", "D1"], ["prior", "norm"], ["sync"])] == [0, 2, 0]
    assert len(made) == 1
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    said = site("sync")
    assert (said.code, "is what the server has" in said.out, "XDG_CACHE_HOME" in said.err) == (0, True, True)


@pytest.mark.parametrize("damage", [lambda t: t.replace("DEAD", "WINS", 1), lambda t: "", lambda t: t[:-20]])
def test_a_damaged_snapshot_is_fetched_whole(site, damage):
    site("sync")
    path = site.folder / ".v2kb" / "snapshot.jsonl"
    whole = path.read_text()
    path.write_text(damage(whole))
    assert site("sync").code == 0
    assert path.read_text().partition("\n")[2] == whole.partition("\n")[2]


def test_what_is_no_snapshot_does_not_replace_one(site, monkeypatch):
    site("sync")
    path = site.folder / ".v2kb" / "snapshot.jsonl"
    whole = path.read_text()
    monkeypatch.setattr(http.Server, "fetch", lambda *_: whole.replace("DEAD", "WINS", 1).encode())
    said = site("sync")
    assert (said.code, "its hash differs" in said.err, path.read_text()) == (3, True, whole)


@pytest.mark.parametrize(
    ("made", "says"),
    [("2020-01-01", "days old; `v2kb sync` renews it"), ("2222-01-01", "after this machine's clock; ")],
)
def test_a_snapshot_that_still_holds_is_dated_anew_once_a_day(site, made, says):
    """Its date may lie ahead too, where a clock was wrong: then nobody knows how old it is."""
    site("sync")
    path = site.folder / ".v2kb" / "snapshot.jsonl"
    head, _, rest = path.read_text().partition("\n")
    old = json.loads(head) | {"made_at": f"{made}T00:00:00+00:00"}
    path.write_text(json.dumps(old, sort_keys=True, separators=(",", ":")) + "\n" + rest)
    shown = site("show", "D1")
    assert (shown.code, says in shown.err) == (4, True)
    assert site("doctor").code == 1
    assert "is what the server has" in site("sync").out
    shown = site("show", "D1")
    assert (shown.code, shown.err) == (0, "note: The snapshot is less than an hour old.\n")
    assert path.read_text().partition("\n")[2] == rest


# --- writes ---


def test_an_experiment_is_recorded_with_its_engine(site):
    said = site(*RECORD, "--trace", "outputs/x/", "--commit", "ac3d9736")
    entry = ExperimentEntry.objects.get()
    assert (said.code, f"/evidence/experiments/{entry.pk}/" in said.out) == (0, True)
    assert (entry.verdict, entry.why, entry.trace, entry.author.engine_name) == ("NULL", "flat", "outputs/x/", ENGINE)
    assert Activity.objects.filter(verb="evidence.add_entry").get().actor_name == f"ada ({ENGINE})"
    assert site.outbox == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([*RECORD, "--commit", "a b"], "names no one commit"),
        ([*RECORD, "--on", "yesterday"], "is no date"),
        ([*RECORD, "--link", "zz:1"], "is no link"),
        ([*RECORD[:5]], "env: The env is empty"),
        ([*RECORD, "--link", "run:Rnone"], "evidence.no_link"),
        (["run", "nothing", "--version", "1"], "kernel.none"),
        (["run", "no such/../kernel"], "v2kb run: "),
        (["watch", "no such run"], "v2kb watch: "),
    ],
)
def test_what_is_refused_is_said_and_leaves_nothing(site, arguments, says):
    said = site(*arguments)
    assert (said.code, says in said.err) == (2, True), said
    assert (ExperimentEntry.objects.count(), site.outbox) == (0, [])


def test_a_row_is_proposed_from_flags_or_a_file(site):
    site("sync")
    row = site.row
    said = site("propose", row.code, "--set", "not_checked=Rows above 64", "--scope", "M=1", "--reason", "seen")
    assert said.code == 0, said.err
    change = Proposal.objects.get(author__username="ada")
    assert (change.row, change.content["not_checked"]) == (row, "Rows above 64")
    assert change.content["mechanism"] == row.head.content["mechanism"]
    new = {**row.head.content, "title": "Quite another"}
    (site.folder / "row.json").write_text(json.dumps(new))
    assert site("propose", "--new", "--from", "row.json", "--reason", "new").code == 0
    assert Proposal.objects.filter(author__username="ada", row=None, content__title="Quite another").exists()


def test_a_unit_of_a_file_may_be_written_as_the_installation_writes_it(site):
    add_term_alias(f.actor("cleo", "curator"), Term.objects.get(kind="unit", word="us").pk, "usec")
    site("sync")
    number = {"text": "6 usec", "readable": True, "value": "6", "unit": "usec", "role": "data_point"}
    (site.folder / "row.json").write_text(json.dumps({"numbers": [number]}))
    said = site("propose", site.row.code, "--from", "row.json", "--reason", "seen")
    assert said.code == 0, said.err
    assert Proposal.objects.get(author__username="ada").content["numbers"][0]["unit"] == "us"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["D1", "--set", "colour=red"], 3),
        (["D1", "--set", "verdict=MAYBE"], 2),
        (["D1"], 3),
        (["D99", "--set", "bound=x"], 3),
        (["--new", "D1", "--set", "bound=x"], 3),
        (["--new", "--from", "no.json"], 3),
        (["D1", "--from", "list.json"], 3),
        (["D1", "--from", "bad.toml"], 3),
    ],
)
def test_proposals_that_make_no_sense(site, arguments, code):
    site("sync")
    (site.folder / "list.json").write_text("[1]")
    (site.folder / "bad.toml").write_text("x = ")
    said = site("propose", *arguments, "--reason", "r")
    assert (said.code, said.err.startswith("v2kb propose: ")) == (code, True), said
    assert not Proposal.objects.filter(author__username="ada").exists()


def spec_file(site: Site, title: str = "Theirs") -> Path:
    if not Op.objects.exists():
        f.op()
    path = site.folder / "spec.md"
    choice = {"new_mechanism": "It keeps the row in registers.", "lever": site.row.head.lever.slug}
    path.write_text(write_markdown({**f.spec_content(site.row, **choice), "title": title}))
    return path


def test_a_spec_is_submitted_and_its_next_revisions_follow(site):
    spec_file(site)
    site("sync")
    site("prior", "--lever", "fused row norm")
    said = site("submit", "spec.md", "--op", "rmsnorm-cpu")
    assert said.code == 0, said.err
    spec = Spec.objects.get()
    assert (spec.title, Submission.objects.count(), SearchReceipt.objects.filter(spec=spec).count()) == ("Theirs", 1, 1)
    assert json.loads((site.folder / ".v2kb" / "specs.json").read_text())["spec.md"]["code"] == spec.code
    same = site("submit", "spec.md", "--op", "rmsnorm-cpu")
    assert (same.code, "spec.submitted" in same.err) == (2, True)
    spec_file(site, "Theirs, shorter")
    assert site("submit", "spec.md", "--op", "rmsnorm-cpu", "--reason", "title").code == 0
    assert (Spec.objects.count(), spec.revisions.count(), Submission.objects.count()) == (1, 2, 2)


def test_parts_of_a_spec_are_bound_to_the_op_that_is_given(site):
    document = f.spec_content(site.row, new_mechanism="It keeps the row in registers.", lever=site.row.head.lever.slug)
    document["ops"] = [{**empty_row("ops"), "name": "The norm"}]
    f.op()
    (site.folder / "spec.md").write_text(write_markdown(document))
    site("sync")
    said = site("submit", "spec.md", "--op", "rmsnorm-cpu", "--no-receipts")
    assert said.code == 0, said.err
    op = Op.objects.get()
    (row,) = Spec.objects.get().head.content["ops"]
    assert (row["op"], row["contract"], row["name"]) == ("rmsnorm-cpu", op.head.content_hash, "The norm")


def test_a_receipt_that_cannot_be_read_is_left_out_and_refused_where_it_was_asked_for(site):
    spec_file(site)
    site("sync")
    site("prior", "--lever", "fused row norm")
    broken = site.folder / ".v2kb" / "receipts" / "0.json"
    broken.write_text('{"content"')
    asked = site("submit", "spec.md", "--op", "rmsnorm-cpu", "--receipt", str(broken))
    assert (asked.code, "is no search receipt" in asked.err, Spec.objects.exists()) == (3, True, False)
    said = site("submit", "spec.md", "--op", "rmsnorm-cpu")
    assert (said.code, "0.json is left out" in said.err, SearchReceipt.objects.count()) == (0, True, 1)


def test_a_spec_that_somebody_else_revised_is_a_conflict(site):
    spec_file(site)
    assert site("submit", "spec.md", "--op", "rmsnorm-cpu").code == 0
    links = site.folder / ".v2kb" / "specs.json"
    links.write_text(links.read_text().replace(Spec.objects.get().head.content_hash, "0" * 64))
    spec_file(site, "Mine")
    said = site("submit", "spec.md", "--op", "rmsnorm-cpu")
    assert (said.code, "conflict spec.stale_base" in said.err) == (2, True)
    assert Spec.objects.get().head.content_hash in said.err


def test_a_run_with_a_new_kernel_and_new_files(site):
    f.op()
    (site.folder / "k").mkdir()
    (site.folder / "k" / "kernel.py").write_text("def run(inputs):\n    return {}\n")
    (site.folder / "k" / ".hidden").write_text("x")
    said = site("run", "mine", "--new-for", "rmsnorm-cpu", "--files", "k", "--no-wait")
    assert said.code == 0, said.err
    run = Run.objects.get()
    assert (run.version.kernel.slug, run.version.number, run.state) == ("mine", 1, "queued")
    assert [file.path for file in run.version.files.all()] == ["kernel.py"]
    assert site("run", "mine", "--no-wait").code == 0
    assert Run.objects.latest("pk").version == run.version


def test_a_run_is_watched_until_it_ends(site, monkeypatch):
    version = f.kernel_version(f.op(), slug="mine", basis=Kernel.Basis.EXPLORATORY)
    site("run", "mine", "--version", "1", "--no-wait")
    run = Run.objects.get()
    asked = []

    def finish_at_the_third(_: float) -> None:
        asked.append(1)
        if len(asked) == 1:
            site.gate.shut()
        elif len(asked) == 2:
            site.gate.open()
        elif len(asked) == 3:
            Run.objects.filter(pk=run.pk).update(state="cancelled", outcome="CANCELLED")

    monkeypatch.setattr(watch.time, "sleep", finish_at_the_third)
    said = site("watch", run.public_id)
    assert version.number == 1
    assert (said.code, "CANCELLED" in said.out, "Asking again" in said.err) == (2, True, True)


def test_a_watch_that_is_interrupted_says_that_the_run_goes_on(site, monkeypatch):
    f.kernel_version(f.op(), slug="mine", basis=Kernel.Basis.EXPLORATORY)
    site("run", "mine", "--version", "1", "--no-wait")
    run = Run.objects.get()

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch.time, "sleep", interrupted)
    said = site("watch", run.public_id)
    assert (said.code, f"v2kb watch {run.public_id}" in said.err) == (130, True)


def test_results_from_elsewhere_become_a_line_of_the_history(site):
    folder = site.folder / "out"
    folder.mkdir()
    (folder / "result.json").write_text(json.dumps({"spec": {"mode": "perf"}, "status": "ok", "M": 1}))
    (folder / "gate.log").write_text("x\nGATE_RESULT {pass: true, first_failing_stage: none}\n")
    looked = site("import-run", "out")
    assert (looked.code, ExperimentEntry.objects.count()) == (1, 0)
    assert "gate.log:2: GATE_RESULT {pass: true" in looked.out
    assert "not kept as runs" in looked.err
    assert site("import-run", "out", "--verdict", "win", "--env", "B200").code == 0
    entry = ExperimentEntry.objects.get()
    assert (entry.verdict, entry.trace) == ("WIN", "out")
    assert entry.why == "GATE_RESULT {pass: true, first_failing_stage: none}; mode perf, M 1, status ok"
    assert site("import-run", ".v2kb").code == 3


def test_an_interrupted_write_is_named(site, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(http.Server, "post", interrupted)
    said = site(*RECORD)
    assert (said.code, "Interrupted" in said.err, len(site.outbox)) == (5, True, 1)


# --- the outbox ---


def test_writes_made_offline_are_sent_in_order_by_the_next_sync(site):
    site("sync")
    row = site.row
    site.gate.shut()
    queued = [
        site(*RECORD),
        site("propose", row.code, "--set", "not_checked=Mine", "--reason", "seen"),
        site(*RECORD[:4], "worse", "--env", "B200"),
        site(*RECORD, "--link", "run:Rnone"),
    ]
    assert [said.code for said in queued] == [5, 5, 5, 5]
    assert all("Queued as" in said.err for said in queued)
    assert [(w["kind"], w["engine"], w["state"]) for w in site.outbox] == [
        (kind, ENGINE, "waiting") for kind in ("record", "propose", "record", "record")
    ]
    assert {path.stat().st_mode & 0o777 for path in (site.folder / ".v2kb" / "outbox").glob("*.json")} == {0o600}
    assert (site("sync").code, site("outbox").code, len(site.outbox)) == (5, 5, 4)
    changed_by_others(row, not_checked="Theirs")
    site.gate.open()
    said = site("sync")
    assert [line.split()[0] for line in said.out.splitlines() if line[0] in "dcr"] == [
        "done",
        "conflict",
        "done",
        "refused",
    ]
    assert "the server has Theirs; you say Mine" in said.out
    assert "evidence.no_link" in said.out
    assert said.code == 2
    assert list(ExperimentEntry.objects.order_by("pk").values_list("why", flat=True)) == ["flat", "worse"]
    assert [w["state"] for w in site.outbox] == ["conflict", "refused"]
    # they stay until somebody decides
    assert site("sync").code == 0
    conflict, refused = (w["key"][:8] for w in site.outbox)
    assert "evidence.stale_base" in site("outbox", "show", conflict).out
    assert site("outbox", "retry", conflict).code == 0
    assert site("sync").code == 2
    assert site("outbox", "drop", conflict).code == site("outbox", "drop", refused).code == 0
    assert (site("outbox").code, site.outbox) == (0, [])
    assert site("outbox", "drop", "").code == site("outbox", "show", "zz").code == 3


def test_a_write_whose_answer_is_lost_is_not_done_twice(site):
    site.gate.loses_answers = True
    assert site(*RECORD).code == 5
    site.gate.loses_answers = False
    assert ExperimentEntry.objects.count() == 1
    assert site("sync").code == 0
    assert (ExperimentEntry.objects.count(), site.outbox) == (1, [])


def test_a_submission_that_is_cut_off_after_its_first_step_goes_on_there(site, monkeypatch):
    spec_file(site)
    link = writes.link_spec
    monkeypatch.setattr(writes, "link_spec", lambda *said: (site.gate.shut(), link(*said)))
    assert site("submit", "spec.md", "--op", "rmsnorm-cpu").code == 5
    assert (Spec.objects.count(), Submission.objects.count()) == (1, 0)
    monkeypatch.setattr(writes, "link_spec", link)
    site.gate.open()
    assert site("sync").code == 0
    assert (Spec.objects.count(), Submission.objects.count()) == (1, 1)


@pytest.mark.parametrize("moment", ["before it is sent", "after it was sent"])
def test_a_kill_of_the_command_loses_nothing(site, moment):
    code = f"""
import os, signal, sys
from v2kb.cli import server
from v2kb.cli.main import main
post = server.Server.post
def killed(*given):
    if {moment == "after it was sent"}:
        post(*given)
    os.kill(os.getpid(), signal.SIGKILL)
server.Server.post = killed
main(sys.argv[1:])
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code, *RECORD], env=env, cwd=site.folder)
    assert done.returncode == -signal.SIGKILL
    assert [write["kind"] for write in site.outbox] == ["record"]
    assert site("sync").code == 0
    assert (ExperimentEntry.objects.count(), site.outbox) == (1, [])


def test_a_write_is_not_sent_under_another_name(site):
    site.gate.shut()
    site(*RECORD)
    site.gate.open()
    other = AuthToken.objects.create(user=f.designer().user)[1]
    assert site("login", stdin=other).code == 0
    said = site("sync")
    assert (said.code, "ada wrote it, and you are dora" in said.out) == (5, True)
    assert not ExperimentEntry.objects.exists()
    site("login", stdin=site.token)
    assert (site("sync").code, ExperimentEntry.objects.count()) == (0, 1)


def test_a_write_without_a_token_waits(site):
    site("logout")
    said = site(*RECORD)
    assert (said.code, "not signed in" in said.err, len(site.outbox)) == (5, True, 1)


def test_a_file_of_the_outbox_that_cannot_be_read_is_named(site):
    (site.folder / ".v2kb" / "outbox").mkdir()
    (site.folder / ".v2kb" / "outbox" / "x.json").write_text("{")
    said = site("outbox")
    assert (said.code, "x.json" in said.err) == (3, True)


def test_an_outbox_that_cannot_be_read_is_not_called_empty(site):
    (site.folder / ".v2kb" / "outbox").touch()
    for command in ("outbox", "sync"):
        said = site(command)
        assert (said.code, "outbox can't be read" in said.err) == (3, True)
    assert "outbox can't be read" in site("doctor").out


def test_json_keeps_to_its_schemas(site):
    done = as_schema("write", site(*RECORD, "--json").out)
    assert (done["outcome"], done["answer"]["verdict"]) == ("done", "NULL")
    refused = as_schema("write", site(*RECORD, "--json").out)
    assert (refused["outcome"], refused["refusal"]["code"]) == ("conflict", "evidence.entry_exists")
    site.gate.shut()
    queued = as_schema("write", site(*RECORD[:4], "other", "--env", "x", "--json").out)
    site(*RECORD, "--link", "run:Rnone")
    assert (queued["outcome"], queued["why"] != "") == ("queued", True)
    assert [one["key"][:8] for one in as_schema("outbox", site("outbox", "--json").out)] == [
        w["key"][:8] for w in site.outbox
    ]
    assert as_schema("outbox-one", site("outbox", "show", queued["id"], "--json").out)["key"] == queued["key"]
    assert as_schema("error", site("sync", "--json").out)
    site.gate.open()
    synced = as_schema("sync", site("sync", "--json").out)
    assert [one["outcome"] for one in synced["outbox"]] == ["done", "refused"]
    assert as_schema("login", site("login", "--json", stdin=site.token).out)["engine"] == ENGINE
    assert as_schema("doctor", site("doctor", "--json").out)
