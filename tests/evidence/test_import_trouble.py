"""Imports that get no further: steps that the database refuses, processes that end, and what the page says of them."""

import datetime

import pytest
from django.db import DatabaseError
from django.utils import timezone

from evidence.import_jobs import silence
from evidence.models import ExperimentEntry, ImportJob
from evidence.services import import_work as work
from evidence.services.import_jobs import apply_import, map_import, retry_import, start_import
from tests.evidence.logs import INDEX, check, counts, run, start
from tests.evidence.sample import MAP
from v2kb.core.errors import Conflict

pytestmark = pytest.mark.django_db


def refuse(*args):
    raise DatabaseError("value too long\nDETAIL: for the log")


def free(job):
    """The time of its lease, or of a pause, has passed."""
    ImportJob.objects.filter(pk=job.pk).update(leased_until=timezone.now() - datetime.timedelta(seconds=1))


def heard(job, seconds_ago, **fields):
    """The job as it is when its last batch ended so long ago."""
    updated_at = timezone.now() - datetime.timedelta(seconds=seconds_ago)
    ImportJob.objects.filter(pk=job.pk).update(updated_at=updated_at, **fields)
    job.refresh_from_db()
    return job


def test_a_step_that_the_database_refuses_each_time_ends_the_import(cleo, monkeypatch):
    job = start(cleo, INDEX)
    map_import(cleo, job.public_id, mapping=job.mapping)
    monkeypatch.setattr(work, "check_batch", refuse)
    for tries in range(1, ImportJob.MAX_TRIES):
        assert work.work_on(job.pk)
        job.refresh_from_db()
        assert (job.state, job.counts["tries"]) == ("checking", tries)
        assert work.due_jobs() == []  # a pause comes first, longer each time
        assert job.leased_until - timezone.now() > work.PAUSE * (tries - 0.5)
        free(job)
    work.work_on(job.pk)
    job.refresh_from_db()
    assert (job.state, job.leased_until, "tries" in job.counts) == ("failed", None, False)
    assert "The database refused it 5 times, last with: value too long. Start it again" in job.message
    assert "DETAIL" not in job.message
    monkeypatch.undo()
    assert counts(check(cleo, job)) == {"new": 3}


def test_what_gets_further_has_all_its_tries_again(cleo, monkeypatch):
    monkeypatch.setattr(work, "BATCH", 1)
    job = start(cleo, INDEX)
    map_import(cleo, job.public_id, mapping=job.mapping)
    check_batch, calls = work.check_batch, []

    def every_second(*args):
        calls.append(1)
        return refuse() if len(calls) % 2 == 0 else check_batch(*args)

    monkeypatch.setattr(work, "check_batch", every_second)
    for done in (1, 2):
        work.work_on(job.pk)
        job.refresh_from_db()
        assert (job.cursor, job.counts.get("tries", 0)) == (done, 0)
        free(job)
    work.work_on(job.pk)
    job.refresh_from_db()
    assert (job.state, counts(job)) == ("checked", {"new": 3})


def test_a_job_that_ends_its_process_each_time_fails(cleo, monkeypatch):
    class Killed(BaseException):
        pass

    def kill(*args):
        raise Killed

    job = start(cleo, INDEX)
    map_import(cleo, job.public_id, mapping=job.mapping)
    apply_import_after(cleo, job)
    monkeypatch.setattr(work, "apply_batch", kill)
    for _ in range(ImportJob.MAX_TRIES):
        with pytest.raises(Killed):
            work.work_on(job.pk)
        free(job)
    assert work.work_on(job.pk)
    job.refresh_from_db()
    assert (job.state, "Its process ended 5 times" in job.message) == ("failed", True)
    assert not ExperimentEntry.objects.exists()


def apply_import_after(actor, job):
    run()
    apply_import(actor, job.public_id)


@pytest.mark.parametrize("text", [INDEX, MAP])
def test_an_import_that_failed_is_started_again_by_a_person(cleo, cara, monkeypatch, text):
    monkeypatch.setattr(work, "encoding_of", refuse)
    job = start(cleo, text)
    for _ in range(ImportJob.MAX_TRIES):
        free(job)
        work.work_on(job.pk)
    job.refresh_from_db()
    assert job.state == "failed"
    monkeypatch.undo()
    page = cara.get(job.get_absolute_url()).text
    assert "The import stopped: The database refused it 5 times" in page
    assert "Start it again" in page
    answer = cara.post(f"{job.get_absolute_url()}retry/", follow=True).text
    assert "The import has begun again" in answer
    run()
    job.refresh_from_db()
    assert (job.state, job.message) == ("checked" if text == MAP else "mapping", "")


def test_one_that_works_or_has_a_mapping_is_not_started_again(cleo, cara):
    job = start_import(cleo, name="log.md", chunks=[INDEX.encode()])
    for _ in range(2):
        with pytest.raises(Conflict) as refused:
            retry_import(cleo, job.public_id)
        assert refused.value.code == "evidence.import_state"
        run()
        work.fail_import(cleo, job.pk, message="no")
    assert "Begin its dry run again" in refused.value.fix
    page = cara.get(job.get_absolute_url()).text
    assert "Dry run again" in page
    assert "Start it again" not in page
    assert cara.post(f"{job.get_absolute_url()}retry/").status_code == 409


def test_a_page_says_since_when_nothing_came_and_when_it_goes_on(cleo, cara):
    job = start(cleo, INDEX)
    map_import(cleo, job.public_id, mapping=job.mapping)
    progress = f"{job.get_absolute_url()}progress/"
    assert "No progress" not in cara.get(progress).text
    until = timezone.now() + ImportJob.LEASE - datetime.timedelta(seconds=40)
    heard(job, 40, leased_until=until)  # its process was killed
    shown = cara.get(progress).text
    assert f"No progress since {job.updated_at:%H:%M:%S} UTC." in shown
    assert f"it goes on where it stopped at {until:%H:%M:%S} UTC." in shown
    assert shown.split("<p>No progress")[1].split("</p>")[0] in cara.get(job.get_absolute_url()).text
    heard(job, 400, leased_until=timezone.now() + ImportJob.LEASE)  # taken up again just now
    assert silence(job) == ""
    for held in (None, timezone.now() - datetime.timedelta(seconds=1)):
        heard(job, 400, leased_until=held)
        assert "no process works on it. It goes on as soon as an importer runs." in silence(job)
    heard(job, 400, leased_until=None, counts={"tries": 3})
    assert "This is try 3 of 5" in silence(job)
