"""What each address answers: parameters checked here, work done in ``tacit.explore.ask``."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from tacit.explore import ask
from tacit.explore.project.group_edits import give_name
from tacit.explore.project.labels import MOST_NAME, clean_name, keys_of_rows
from tacit.explore.project.plan import closure
from tacit.explore.project.settings import EFFORTS
from tacit.explore.questions.contexts import SORTS
from tacit.explore.questions.text_search import WAYS
from tacit.explore.server.parameters import MISSING, Refused, Values, check_row
from tacit.explore.server.state import ProjectSnapshot, ServerState
from tacit.explore.stages.naming import shown_name

__all__ = ["GETS", "POSTS", "Answer", "Asked"]

MOST_TOP, MOST_START = 1000, 10**9
MOST_QUERY = 2000  # characters
MOST_K = 1000
SIDES = ("rows", "group", "query", "label", "rest")


class Asked(NamedTuple):
    """One request, read."""

    state: ServerState
    request: Request
    body: dict[str, Any]

    @property
    def reader(self) -> ask.ProjectReader:
        """The project as it is now."""
        return self.state.opened.reader

    def query(self, *known: str) -> Values:
        """The parameters in the address."""
        return Values.of_query(self.request, known)

    def posted(self, *known: str) -> Values:
        """The parameters in the body."""
        self.query()
        return Values(self.body, known)


Answer = Callable[[Asked], Any]


# --- Questions ---


def project(asked: Asked) -> dict[str, Any]:
    asked.query()
    return asked.state.facts()


def search(asked: Asked) -> dict[str, Any]:
    params = asked.query("q", "way", "top", "start")
    return ask.search(
        asked.reader,
        params.text("q", most=MOST_QUERY),
        way=params.choice("way", WAYS, "ranked"),
        top=params.integer("top", 20, 1, MOST_TOP),
        start=params.integer("start", 0, 0, MOST_START),
    )


def similar(asked: Asked) -> dict[str, Any]:
    params, now = asked.query("row", "top"), asked.state.opened
    row = row_of(params, now)
    return ask.similar(now.reader, row, top=params.integer("top", 10, 1, MOST_TOP))


def document(asked: Asked) -> dict[str, Any]:
    now = asked.state.opened
    return ask.document(now.reader, row_of(asked.query("row"), now))


def concordance(asked: Asked) -> dict[str, Any]:
    params = asked.query("q", "sort", "width", "top", "start")
    return ask.concordance(
        asked.reader,
        params.text("q", most=MOST_QUERY),
        sort=params.choice("sort", SORTS, "document"),
        width=params.integer("width", 60, 10, 500),
        top=params.integer("top", 100, 1, MOST_TOP),
        start=params.integer("start", 0, 0, MOST_START),
    )


def neighbors(asked: Asked) -> dict[str, Any]:
    params = asked.query("q", "word", "top")
    word = params.text("word" if "word" in params.values else "q", most=MOST_QUERY)
    return ask.neighbors(asked.reader, word, top=params.integer("top", 20, 1, MOST_TOP))


def next_words(asked: Asked) -> dict[str, Any]:
    params = asked.query("q", "top")
    text = params.text("q", empty=True)
    return ask.next_words(asked.reader, text, top=params.integer("top", 10, 1, MOST_TOP))


def surprise(asked: Asked) -> dict[str, Any]:
    return ask.surprise(asked.reader, asked.query("q").text("q"))


def generate(asked: Asked) -> dict[str, Any]:
    params = asked.posted("prefix", "words", "temperature", "seed")
    return ask.generate(
        asked.reader,
        params.text("prefix", "", empty=True),
        words=params.integer("words", 60, 1, 1000),
        temperature=params.number("temperature", 1.0, 0.0, 10.0),
        seed=params.integer("seed", 0, 0, 2**32 - 1),
    )


def compare(asked: Asked) -> dict[str, Any]:
    params, now = asked.posted("a", "b"), asked.state.opened
    a, b = (side(asked.state, now, params.values.get(name), name) for name in ("a", "b"))
    if "rest" in a and "rest" in b:
        raise Refused(400, "a and b are both the rest; name one of them.")
    return ask.compare(now.reader, a, b)


def side(state: ServerState, now: ProjectSnapshot, value: Any, name: str) -> dict[str, Any]:
    """One of the two selections that are compared; labels become rows."""
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in SIDES:
        raise Refused(400, f"{name} must be an object with one of {', '.join(SIDES)}.")
    params = Values(value, SIDES)
    match next(iter(value)):
        case "rows":
            return {"rows": params.rows("rows", now.documents)}
        case "group":
            return {"group": params.integer("group", MISSING, -1, 10**6)}
        case "query":
            return {"query": params.text("query", most=MOST_QUERY)}
        case "label":
            label = params.text("label", most=MOST_NAME)
            rows = sorted(r for r, name in state.label_rows(now).items() if name == label)
            if not rows:
                raise Refused(404, "No document has this label.")
            return {"rows": rows}
    if value["rest"] is not True:
        raise Refused(400, f"{name}: rest must be true.")
    return {"rest": True}


# --- Labels ---


def labels(asked: Asked) -> dict[str, Any]:
    asked.query()
    return asked.state.label_facts()


def put_labels(asked: Asked) -> dict[str, Any]:
    params, state = asked.posted("rows", "name"), asked.state
    now = state.opened
    rows = params.rows("rows", now.documents)
    name = name_or_none(params, "to take labels away")
    state.must_write()
    state.labels.put(keys_of_rows(now.reader, rows), name)
    return state.label_facts()


def rename_label(asked: Asked) -> dict[str, Any]:
    """A label under another name; under one that is there only with ``merge``."""
    params, state = asked.posted("name", "to", "merge"), asked.state
    name, to, merge = old_name(params), new_name(params, "to"), params.flag("merge")
    state.must_write()
    changed = state.labels.rename(name, to, merge=merge)
    return {**state.label_facts(), "changed": changed}


def delete_label(asked: Asked) -> dict[str, Any]:
    params, state = asked.posted("name"), asked.state
    name = old_name(params)
    state.must_write()
    changed = state.labels.remove(name)
    return {**state.label_facts(), "changed": changed}


def old_name(params: Values) -> str:
    """The name of a label as the file has it, which is untrusted."""
    return params.text("name", most=MOST_NAME, empty=True, exact=True)


def new_name(params: Values, what: str) -> str:
    return clean_name(params.text(what, most=MOST_NAME), what)


def name_or_none(params: Values, null: str) -> str | None:
    """A new name, or None for ``null``, whose meaning a message gives."""
    if "name" not in params.values:
        raise Refused(400, f"name must be given, as text, or null {null}.")
    return None if params.values["name"] is None else new_name(params, "name")


def rename_group(asked: Asked) -> dict[str, Any]:
    """A name of the user's own for a group; null takes it back."""
    params, state = asked.posted("group", "name"), asked.state
    reader = asked.reader
    group = params.integer("group", MISSING, 0, max(reader.n_groups - 1, 0))
    if not reader.n_groups:
        raise Refused(404, "The documents are not divided into groups.")
    name = name_or_none(params, "for the name that was found")
    state.must_write()
    rows = np.flatnonzero(reader.groups == group).tolist()
    give_name(state.path, name, [reader.id_of(row) for row in rows])
    renamed = asked.reader.facts("groups")["groups"][group]
    return {"group": group, "name": shown_name(renamed)}


def undo_labels(asked: Asked) -> dict[str, Any]:
    asked.posted()
    asked.state.must_write()
    if not asked.state.labels.undo():
        raise Refused(400, "There is nothing to take back.")
    return asked.state.label_facts()


# --- Jobs ---


def jobs(asked: Asked) -> list[dict[str, Any]]:
    asked.query()
    return asked.state.jobs.list()


def start_job(asked: Asked) -> dict[str, Any]:
    params = asked.posted("kind", "k", "effort", "stages", "memory", "edit", "groups")
    kind = params.choice("kind", ("spread", "explore", "prepare", "edit"))
    settings: dict[str, Any] = {}
    if kind != "edit" and params.values.keys() & {"edit", "groups"}:
        raise Refused(400, f"A job of kind {kind} takes no edit and no groups.")
    if kind == "explore":
        if params.values.get("k") is not None:
            settings["k"] = params.integer("k", MISSING, 1, MOST_K)
        if params.values.get("effort") is not None:
            settings["effort"] = params.choice("effort", EFFORTS)
        settings |= limits_of(params)
    elif kind == "edit":
        settings = edit_of(params, asked.reader.n_groups)
    elif len(params.values) > 1:
        raise Refused(400, f"A job of kind {kind} takes no k, effort, stages or memory.")
    return {"job": asked.state.start_job(kind, settings).id}


def edit_of(params: Values, there: int) -> dict[str, Any]:
    """An edit of groups as a request names it; ``there`` are so many groups."""
    edit = params.choice("edit", ("merge", "split", "pin", "undo"))
    listed = params.values.get("groups", [])
    few, most = {"merge": (2, there), "undo": (0, 0)}.get(edit, (1, 1))
    valid = isinstance(listed, list) and all(type(g) is int and 0 <= g < there for g in listed)
    if not valid or len(set(listed)) != len(listed) or not few <= len(listed) <= most:
        raise Refused(
            400, f"groups must be a list of {few} to {most} different groups from 0 to "
            f"{there - 1} for {edit}."
        )  # fmt: skip
    return {"edit": edit, "groups": listed}


def limits_of(params: Values) -> dict[str, Any]:
    """Stages and memory (in bytes) of a request. Null is no limit; a missing parameter means
    the choice on record."""
    limits: dict[str, Any] = {}
    if "stages" in params.values:
        limits["stages"] = None if params.values["stages"] is None else params.names("stages")
        closure(limits["stages"])  # or an error: a stage that is not there
    if "memory" in params.values:
        limits["memory"] = None
        if params.values["memory"] is not None:
            limits["memory"] = params.integer("memory", MISSING, 1, 2**60)
    return limits


def cancel_job(asked: Asked) -> dict[str, Any]:
    asked.posted()
    return asked.state.jobs.cancel(asked.request.path_params["job"]).facts()


# --- Files ---


def make_page(asked: Asked) -> Response:
    """The report, live, with the policy it needs."""
    page = asked.state.opened.page()
    headers = {"Content-Security-Policy": page.policy}
    return Response(page.body, media_type="text/html", headers=headers)


def export_file(asked: Asked) -> Response:
    """A file to keep. Its name is one of a list, never a path."""
    asked.query()
    name = asked.request.path_params["name"]
    if name not in ask.EXPORTS:
        raise Refused(404, f"There is no such export; there are {', '.join(ask.EXPORTS)}.")
    now = asked.state.opened
    home = tempfile.TemporaryDirectory(prefix="tacit-export-")
    try:
        path = Path(home.name) / "export"
        labels = asked.state.label_rows(now)
        spread = asked.state.labels.spread(now.run)
        ask.export(now.reader, name, path, labels, spread=spread)
    except BaseException:
        home.cleanup()
        raise
    kind, clean_up = ask.EXPORTS[name].media_type, BackgroundTask(home.cleanup)
    return FileResponse(path, filename=name, media_type=kind, background=clean_up)


def row_of(params: Values, now: ProjectSnapshot) -> int:
    return check_row(params.integer("row", MISSING, -(10**12), 10**12), now.documents)


GETS: dict[str, Answer] = {
    "/": make_page,
    "/api/project": project,
    "/api/search": search,
    "/api/similar": similar,
    "/api/document": document,
    "/api/concordance": concordance,
    "/api/neighbors": neighbors,
    "/api/next": next_words,
    "/api/surprise": surprise,
    "/api/labels": labels,
    "/api/jobs": jobs,
    "/api/export/{name}": export_file,
}
POSTS: dict[str, Answer] = {
    "/api/compare": compare,
    "/api/generate": generate,
    "/api/labels": put_labels,
    "/api/labels/rename": rename_label,
    "/api/labels/delete": delete_label,
    "/api/labels/undo": undo_labels,
    "/api/groups/rename": rename_group,
    "/api/jobs": start_job,
    "/api/jobs/{job}/cancel": cancel_job,
}
