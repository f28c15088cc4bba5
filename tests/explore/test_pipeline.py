"""The stages, one after the other: what they find, and what running again costs."""

import json

import numpy as np
import pytest

from tacit.core import Serial, Threads
from tacit.data import Documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import STAGES, result_hash, run_stages
from tacit.explore.project.settings import Settings
from tacit.explore.stages.meaning import directions_of
from tacit.explore.stages.stage import Context

WORDS = {
    "sea": "whale ship harbor sailor wave anchor mast tide deck captain storm reef",
    "bread": "flour oven yeast dough crust loaf baker rye knead butter salt crumb",
    "stars": "orbit comet planet telescope moon galaxy lens dust gravity light night sky",
}
COMMON = "the a of and to in is was it with for on"
TOPICS = {topic: words.split() for topic, words in WORDS.items()}
QUICK = Settings(effort="quick")


def letters(n=90, seed=0):
    """Documents on three topics with common words in between, and their topics."""
    rng = np.random.default_rng(seed)
    kinds = list(TOPICS)
    topics = [kinds[i % 3] for i in range(n)]
    common = COMMON.split()
    texts = [
        " ".join(
            word for _ in range(40) for word in (rng.choice(TOPICS[topic]), rng.choice(common))
        )
        for topic in topics
    ]
    return texts, topics


def explore(path, texts, settings=QUICK, engine=None):
    folder, events = ProjectFolder(path), []
    with folder.writing():
        run_stages(
            folder, Documents.of(texts), settings, engine=engine or Serial(),
            on_event=events.append,
        )  # fmt: skip
    return folder, [each for each in events if each.seconds is not None]


def look(folder):
    return Context(folder, QUICK, Serial(), ())


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    texts, topics = letters()
    folder, events = explore(tmp_path_factory.mktemp("project"), texts)
    return folder, events, texts, topics


def test_every_stage_runs_and_the_topics_are_found(project):
    folder, events, texts, topics = project
    assert [each.name for each in events] == ["ingest", *(stage.name for stage in STAGES)]
    assert not any(each.reused for each in events)
    context = look(folder)
    assert list(context.documents().texts()) == texts
    groups = context.facts("groups")
    assert groups["k"] == 3
    labels = context.arrays("groups")["labels"]
    assert len({(label, topic) for label, topic in zip(labels, topics, strict=True)}) == 3
    for group in groups["groups"]:
        words = {word for word, *_ in group["words"][:5]}
        topic = topics[group["typical"][0]]
        assert words <= set(TOPICS[topic])
        assert group["verdict"] == "firm"
    assert context.arrays("map")["points"].shape == (90, 2)


def test_running_again_does_nothing_and_other_settings_only_what_they_change(project):
    folder, _, texts, _ = project
    _, events = explore(folder.path, texts)
    assert all(each.reused for each in events)
    _, events = explore(folder.path, texts, Settings(effort="quick", k=4))
    assert [each.name for each in events if not each.reused] == ["groups"]
    explore(folder.path, texts)


def test_threads_find_the_same_to_the_last_bit(project, tmp_path):
    folder, _, texts, _ = project
    other, _ = explore(tmp_path / "threads", texts, engine=Threads(3))
    assert result_hash(other) == result_hash(ProjectFolder(folder.path))


def test_a_damaged_output_is_made_anew(tmp_path):
    texts, _ = letters(40)
    folder, _ = explore(tmp_path, texts)
    before = result_hash(folder)
    (folder.output("map") / "arrays.safetensors").unlink()
    flipped = folder.output("counts") / "arrays.safetensors"
    data = bytearray(flipped.read_bytes())
    data[len(data) // 2] ^= 1
    flipped.write_bytes(data)
    with pytest.warns(UserWarning, match=r"arrays.safetensors: .*computed again") as said:
        again, events = explore(tmp_path, texts)
    assert [each.name for each in events if not each.reused] == ["counts", "map"]
    assert ["checksum" in str(w.message) for w in said] == [True, False]
    assert result_hash(again) == before


@pytest.mark.parametrize(
    ("texts", "stage", "reason"),
    [
        ([""], "counts", "It is empty."),
        (["one document alone"], "meaning", "takes 3 documents; there is 1"),
        (letters(12)[0], "groups", "Groups need 31"),
    ],
    ids=["empty", "one", "few"],
)
def test_small_collections_say_what_cannot_be_said(tmp_path, texts, stage, reason):
    folder, events = explore(tmp_path, texts)
    assert len(events) == len(STAGES) + 1
    assert reason in (look(folder).skipped(stage) or "")


def test_every_document_of_a_few_words_has_a_place(tmp_path):
    words = TOPICS["sea"][:7]
    folder, _ = explore(tmp_path, [words[i % 7] for i in range(70)])
    found = look(folder).facts("meaning")
    assert (found["directions"], found["blank"]) == (7, 0)


def test_what_no_direction_reaches_is_left_blank_and_not_rounding():
    rows, lengths = directions_of(np.array([[3.0, 4.0], [0.0, 0.0], [1e-17, -2e-17]]))
    np.testing.assert_array_equal(lengths, [5.0, 0.0, 0.0])
    np.testing.assert_array_equal(rows[1:], 0)


def test_facts_are_plain_json_whatever_the_documents_hold(tmp_path):
    hostile = "</script><b>{} \x1b[31m \u202e \ud800 hostile word{} words"
    texts = [hostile.format(i % 3, i % 3) for i in range(40)]
    folder, _ = explore(tmp_path, texts)
    for stage in STAGES:
        text = (folder.output(stage.name) / "facts.json").read_text(encoding="utf-8")
        json.loads(text, parse_constant=lambda name: pytest.fail(name))
