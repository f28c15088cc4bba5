"""Jobs in child processes: what they tell, how they end, and that only one writes."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from tacit.explore.project.folder import ProjectFolder
from tacit.explore.server import job_child
from tacit.explore.server import jobs as jobs_module
from tacit.explore.server.jobs import EventLog, Jobs, as_stream
from tacit.explore.server.parameters import Refused

SPREAD = [({"rows": [0, 3, 6], "name": "sea"}), ({"rows": [1, 4, 7], "name": "bread"})]


@pytest.fixture
def follow(client):
    """Every event of a job, to its end."""

    def read(job, **headers):
        answer = client.get(f"/api/jobs/{job}/events", headers=headers)
        assert answer.headers["content-type"].startswith("text/event-stream")
        return events_in(answer.text)

    return read


def events_in(text):
    """[(kind, data)] of an event stream."""
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[0] != ":")
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def stub(code):
    """A child that does what the test wants."""
    return lambda: subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


@pytest.fixture
def run_stub(tmp_path, monkeypatch):
    """Run a child with this code as a job; the job when it has ended."""
    ended = []

    def run(code):
        monkeypatch.setattr(jobs_module, "spawn", stub(code))
        jobs = Jobs(tmp_path, ended.append)
        job = jobs.start("spread", {}, {})
        asyncio.run(read_events(job.log))
        assert ended == [job]
        assert jobs.running("spread") is None
        return job

    return run


async def read_events(log, **options):
    return [event async for event in log.follow(**options)]


# --- The real ones ---


def test_labels_are_spread_by_a_job_and_the_result_is_kept(post, ask, follow, project, texts):
    for labels in SPREAD:
        post("/api/labels", labels)
    job = post("/api/jobs", {"kind": "spread"})["job"]
    events = follow(job)
    assert [kind for kind, _ in events] == ["progress", "progress", "end"]
    assert events[0][1].items() >= {"stage": "spread", "number": 1, "done": False}.items()
    assert events[-1][1]["ok"] is True
    spread = ask("/api/labels")["spread"]
    names = [spread["classes"][name] if name >= 0 else None for name in spread["names"]]
    sea = [name for name, topic in zip(names, texts.topics, strict=True) if topic == "sea"]
    assert set(sea) == {"sea"}
    assert spread["stale"] is False
    assert ask("/api/jobs")[0].items() >= {"job": job, "state": "done"}.items()
    assert post("/api/labels", {"rows": [9], "name": "sea"})["spread"]["stale"] is True
    assert follow(job) == events  # whoever comes late hears all of it
    assert follow(job, **{"Last-Event-ID": "2"}) == events[2:]


def test_exploring_again_replaces_the_page_and_keeps_labels(post, ask, follow, client, project):
    post("/api/labels", SPREAD[0])
    before, page = ask("/api/project"), client.get("/").content
    job = post("/api/jobs", {"kind": "explore", "k": 2, "effort": "quick"})["job"]
    events = follow(job)
    assert events[-1] == ("end", {"ok": True, "message": "The documents were explored again.",
                                  "state": "done"})  # fmt: skip
    stages = [data["stage"] for kind, data in events if kind == "progress"]
    assert stages[0] == "ingest"
    assert "groups" in stages
    now = ask("/api/project")
    assert now["groups"] == 2
    assert {"seed": 0, "k": 2, "effort": "quick"}.items() <= now["settings"].items()
    assert now["run"] != before["run"]
    assert now["ready"] is True  # the index did not change with the groups
    assert client.get("/").content != page
    assert ask("/api/labels")["rows"] == {"0": "sea", "3": "sea", "6": "sea"}
    assert ask("/api/search", q="whale")["total"] > 5
    assert "unfinished" not in json.loads((project / "project.json").read_bytes())
    ProjectFolder(project).check()


def test_one_job_writes_and_can_be_cancelled(post, ask, follow, state, project):
    record = (project / "project.json").read_bytes()
    for labels in SPREAD:
        post("/api/labels", labels)
    job = post("/api/jobs", {"kind": "explore", "k": 4, "effort": "thorough"})["job"]
    child = state.jobs.get(job).process
    os.kill(child.pid, signal.SIGSTOP)  # it will not be done before we look
    for kind in ("explore", "prepare", "spread"):
        assert "explore" in post("/api/jobs", {"kind": kind}, 409)["error"]
    assert ask("/api/search", q="whale")["total"] > 5  # questions go on
    assert post(f"/api/jobs/{job}/cancel", {})["state"] == "cancelled"
    end = follow(job)[-1][1]
    assert end["ok"] is False
    assert end["message"] == "Cancelled. The project is as it was."
    assert child.returncode == -signal.SIGKILL
    assert (project / "project.json").read_bytes() == record
    assert post(f"/api/jobs/{job}/cancel", {})["state"] == "cancelled"  # once more is no harm
    assert ask("/api/project")["groups"] == 3


# --- Other writers, and what is left half done ---


def test_a_project_in_other_hands_is_not_written(post, project):
    with ProjectFolder(project).writing():
        reply = post("/api/jobs", {"kind": "explore", "k": 2}, 409)["error"]
    assert f"process {os.getpid()}" in reply


def test_a_run_in_the_middle_is_undone_and_not_looked_at(state, project):
    before = (project / "project.json").read_bytes()
    run = state.opened.run
    folder = ProjectFolder(project)
    with folder.writing():

        def half(home):
            (home / "facts.json").write_text('{"skipped": "nothing yet"}')

        folder.keep("groups", "0" * 64, half)
        assert state.opened.run == run  # somebody is writing
    state.put_back(before)
    assert (project / "project.json").read_bytes() == before
    assert state.opened.run == run
    ProjectFolder(project).check()


def test_a_record_whose_files_are_gone_is_not_put_back(state, project):
    before = (project / "project.json").read_bytes()
    folder = ProjectFolder(project)
    with folder.writing():
        folder.drop({"language"})
    with folder.writing():  # sweeps what the record does not name
        now = (project / "project.json").read_bytes()
    state.put_back(before)
    assert (project / "project.json").read_bytes() == now
    assert state.opened.missing == ["language"]


def test_a_run_that_was_cut_off_is_finished_at_the_next_start(state, project):
    folder = ProjectFolder(project)
    with folder.writing():
        folder.record["unfinished"] = True
        folder.commit(settings={"seed": 0, "k": 2, "effort": "quick"})
    reply = io.StringIO()
    assert state.opened.folder.record["unfinished"]
    job_child.prepare({"project": str(project)}, job_child.Reporter(reply))
    assert state.facts()["groups"] == 2
    assert "unfinished" not in state.opened.folder.record
    lines = [json.loads(line) for line in reply.getvalue().splitlines()]
    assert {"duplicates", "groups"} <= {line["stage"] for line in lines}


# --- Children that misbehave ---


def test_what_a_child_says_is_read_with_suspicion(run_stub):
    job = run_stub(
        "import json; print('hello'); print('[1]'); print('{\"event\": \"format disk\"}');"
        "print('{'); print(json.dumps({'event': 'progress', 'stage': 'x\\n\\nevent: end'}));"
        "print(json.dumps({'event': 'end', 'ok': True, 'message': 'fine'}))"
    )
    assert [event.kind for event in job.log.events] == ["progress", "end"]
    assert job.log.events[-1].data == {"ok": True, "message": "fine", "state": "done"}

    async def stream():
        return b"".join([piece async for piece in as_stream(job.log.follow())])

    reply = events_in(asyncio.run(stream()).decode())
    assert [kind for kind, _ in reply] == ["progress", "end"]


@pytest.mark.parametrize(("code", "said"), [
    ("import sys; sys.stderr.write('a\\nout of luck'); sys.exit(7)", r"code 7\): out of luck"),
    ("import os; os.kill(os.getpid(), 9)", r"code -9\): it said nothing"),
    ("print('x' * 10**6)", r"code 0\)"),
])  # fmt: skip
def test_a_child_that_dies_is_told_of(run_stub, code, said):
    job = run_stub(code)
    assert job.state == "failed"
    end = job.log.events[-1].data
    assert end["ok"] is False
    assert re.search(said, end["message"])


def test_cancelling_ends_what_the_child_started_too(tmp_path, monkeypatch):
    code = (
        "import subprocess, sys, json, time;"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
        "print(json.dumps({'event': 'progress', 'pid': p.pid}), flush=True); time.sleep(600)"
    )
    monkeypatch.setattr(jobs_module, "spawn", stub(code))
    jobs = Jobs(tmp_path, lambda job: None)
    job = jobs.start("spread", {}, {})

    async def first():
        async for event in job.log.follow():
            return event.data["pid"]

    grandchild = asyncio.run(first())
    jobs.cancel(job.id)
    asyncio.run(read_events(job.log))
    assert job.state == "cancelled"
    assert soon(lambda: gone(grandchild))


def soon(happened, wait=120):
    """Whether something comes true before it can be taken for stuck."""
    pause = threading.Event()
    return any(happened() or pause.wait(0.05) for _ in range(20 * wait))


def gone(pid):
    """Whether a process has ended; a zombie that nobody waited for has."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def test_a_job_without_a_server_ends(project):
    """The pipe that brought the question closes when the server dies, however it dies."""
    child = jobs_module.spawn()
    request = {"kind": "explore", "project": str(project), "k": 7, "effort": "thorough"}
    child.stdin.write(json.dumps(request) + "\n")
    child.stdin.close()
    assert child.wait(timeout=120) == -signal.SIGKILL
    child.stdout.close()
    child.stderr.close()
    record = json.loads((project / "project.json").read_bytes())
    assert record["settings"]["k"] is None or record["unfinished"]


def test_jobs_that_ended_are_forgotten_after_a_while(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs_module, "spawn", stub("pass"))
    monkeypatch.setattr(jobs_module, "MOST_KEPT", 2)
    jobs = Jobs(tmp_path, lambda job: None)
    made = []
    for _ in range(4):
        made.append(jobs.start("spread", {}, {}))
        asyncio.run(read_events(made[-1].log))
    assert [each["job"] for each in jobs.list()] == [made[3].id, made[2].id]
    with pytest.raises(Refused, match="no such job"):
        jobs.get(made[0].id)


def test_nothing_starts_when_the_server_is_stopping(tmp_path):
    jobs = Jobs(tmp_path, lambda job: None)
    jobs.close()
    with pytest.raises(Refused, match="stopping"):
        jobs.start("spread", {}, {})


# --- Events ---


def test_a_quiet_line_is_shown_to_be_alive():
    log = EventLog()

    async def listen():
        found = []
        async for event in log.follow(heartbeat=0.01):
            found.append(event)
            if len(found) == 2:
                log.add("end", {})
        return found

    assert [event and event.kind for event in asyncio.run(listen())] == [None, None, "end"]
