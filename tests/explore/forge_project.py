"""Forge projects: change one value of one file of a stage, make every digest right, use it.

    python -m tests.explore.forge_project --cases 200    every stage, 200 projects each
    python -m tests.explore.forge_project --only meaning --seed 7

Arrays, facts and models are changed. A forged project may be refused with a TacitError, or be
shown and asked: the report, the table of documents, the answers of a server, a second run with
other groups. Anything else is a finding: another exception, an internal error of the server, a
signal, a hang, memory without bound.
"""

import contextlib
import copy
import io
import json
import random
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.contract.forge import VALUES, change_array, describe, forge, main, places, say

STAGES = [
    "counts", "duplicates", "fields", "groups", "index", "ingest", "language", "language_guess",
    "map", "meaning", "outliers", "reading", "themes", "time", "what_if", "words",
]  # fmt: skip
HERE = "http://127.0.0.1:8000"
QUESTIONS = [
    ("/api/project", {}),
    ("/api/search", {"q": "whale ship"}),
    ("/api/search", {"q": "\"the whale\" OR moon -dough", "way": "ranked"}),
    ("/api/search", {"q": "whale", "way": "meaning"}),
    ("/api/similar", {"row": 7}),
    ("/api/document", {"row": 89}),
    ("/api/concordance", {"q": "whale", "sort": "left"}),
    ("/api/neighbors", {"q": "whale"}),
    ("/api/next", {"q": "the"}),
    ("/api/surprise", {"q": "the whale"}),
    ("/api/labels", {}),
    *[(f"/api/export/{name}", {}) for name in (
        "documents.csv", "documents.parquet", "groups.json", "tree.nwk",
        "projector-vectors.tsv", "atlas.parquet",
    )],
]  # fmt: skip
EXPLORE_EVERY = 8  # cases


def make_project(home):
    """A project with dates, fields and everything that questions need; and its documents."""
    from tacit.explore import explore_documents
    from tacit.explore.ask import prepare_live
    from tests.explore.corpora import letters

    texts, topics = letters()
    import pandas as pd

    days = pd.date_range("2001-01-01", periods=len(texts), freq="37D").strftime("%Y-%m-%d")
    documents = pd.DataFrame({"text": texts, "kind": topics, "date": days})
    explore_documents(documents, out=home, effort="quick", engine="serial")
    prepare_live(home)
    return documents


def forge_stage(project, stage, draw):
    """Change a file of a stage in place, and put it on record. What was changed."""
    from tacit.core.tensorfile import open_tensors, write_tensors
    from tacit.explore.project.folder import settle

    record = json.loads((project / "project.json").read_text())
    entry = record["stages"][stage]
    folder = project / "stages" / f"{stage}-{entry['key'][:16]}"
    name = draw.choice(sorted(entry["files"]))
    path = folder / name
    if name.endswith(".parquet"):
        name, path = "facts.json", folder / "facts.json"
    if name.endswith(".json"):
        facts = json.loads(path.read_text())
        changed = copy.deepcopy(facts)
        spot = draw.choice(list(places(facts)))
        node = changed
        for key in spot[:-1]:
            node = node[key]
        value = draw.choice(VALUES)
        node[spot[-1]] = value
        path.write_text(json.dumps(changed))
        what = f"{name} {spot} = {value!r}"
    else:
        kind = "model" if name.endswith(".model") else "stage"
        with open_tensors(path, kind=kind) as file:
            document, arrays = file.document, file.read()
        document.pop("data_blake2b", None)
        if kind == "model":
            document, arrays, what = forge(document, arrays, draw)
        else:
            which = draw.choice(sorted(arrays))
            before, after = arrays[which], change_array(arrays[which], draw)
            arrays = {**arrays, which: after}
            what = f"{which}: {before.dtype}{before.shape} -> {after.dtype}{after.shape}"
            if before.shape == after.shape and before.size:
                with np.errstate(all="ignore"):
                    at = int(np.argmax((before != after).reshape(-1)))
                what += f" at {at}: {after.reshape(-1)[at]!r}"
        write_tensors(path, document, arrays)
        what = f"{name} {what}"
    entry["files"][path.name] = settle(path)
    (project / "project.json").write_text(json.dumps(record))
    return what


def uses(project, documents, number):
    """What a person may do with a project: (name, function)."""
    from tacit.explore import Project

    yield "open", lambda: Project.open(project)
    yield "columns", lambda: Project.open(project).document_columns()
    yield "report", lambda: Project.open(project).report(project.parent / "page.html")
    yield "words", lambda: (repr(Project.open(project)), Project.open(project)._repr_html_())
    yield "serve", lambda: serve(project)
    if number % EXPLORE_EVERY == 0:
        yield "explore", lambda: explore_again(project, documents)


def serve(project):
    """Ask a server; AssertionError for an internal error."""
    from starlette.testclient import TestClient

    from tacit.explore.server.app import make_app
    from tacit.explore.server.security import Access
    from tacit.explore.server.state import ServerState

    state = ServerState(project)
    try:
        access = Access.new("127.0.0.1", 8000)
        with TestClient(make_app(state, access), base_url=HERE) as client:
            client.get("/", params={"token": access.token})
            for path, query in QUESTIONS:
                said = io.StringIO()
                with contextlib.redirect_stderr(said):
                    answer = client.get(path, params=query)
                if answer.status_code == 500 and "Internal error" in answer.text:
                    lines = said.getvalue().strip().splitlines()
                    where = [line.strip() for line in lines if "File" in line][-2:]
                    raise AssertionError(f"{path}: {lines[-1:]} {where}")
    finally:
        state.close()


def explore_again(project, documents):
    from tacit.explore import explore_documents

    explore_documents(documents, out=project, k=4, effort="quick", engine="serial")


def run_cases(names, cases, start, seed):
    """Forge and use ``cases`` projects for every stage, from the ``start``-th on."""
    from tacit.core import TacitError

    with tempfile.TemporaryDirectory() as home:
        sound, project = Path(home) / "sound.tacit", Path(home) / "copy.tacit"
        documents = make_project(sound)
        for number in range(start, len(names) * cases):
            stage = names[number // cases]
            shutil.rmtree(project, ignore_errors=True)
            shutil.copytree(sound, project)
            draw = random.Random(f"{seed}/{stage}/{number % cases}")
            what = forge_stage(project, stage, draw)
            case = {"place": number, "what": f"{stage}: {what}"[:240]}
            for name, use in uses(project, documents, number):
                say(case, name)
                try:
                    use()
                except TacitError:
                    continue
                except BaseException as error:
                    say(case, name, describe(error))


if __name__ == "__main__":
    sys.exit(main("tests.explore.forge_project", __doc__, lambda: STAGES, run_cases))
