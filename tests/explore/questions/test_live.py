"""What questions need: made once, shared by threads, kept beside a project."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tacit.core import DataError, Locked, Serial, Threads
from tacit.explore import Project, explore_documents
from tacit.explore.ask import (
    Live,
    NotReady,
    compare,
    concordance,
    document,
    generate,
    neighbors,
    next_words,
    search,
    similar,
)
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import LIVE_STAGES, missing_live, prepare_live, result_hash
from tacit.explore.questions.reader import once
from tests.explore.corpora import letters, table

QUESTIONS = (
    lambda live: search(live, "ship storm"),
    lambda live: search(live, "ship AND NOT storm", way="boolean"),
    lambda live: search(live, "ship storm", way="meaning"),
    lambda live: similar(live, 5),
    lambda live: document(live, 5),
    lambda live: concordance(live, "ship", sort="left"),
    lambda live: compare(live, {"group": 1}, {"rest": True}),
    lambda live: neighbors(live, "ship"),
    lambda live: neighbors(live, "shap"),
    lambda live: next_words(live, "the"),
    lambda live: generate(live, "the", words=20),
)


def test_what_is_on_disk_answers_as_what_was_made_in_memory(live, prepared):
    from_disk = Live(prepared)
    assert from_disk.missing == []
    for ask in QUESTIONS:
        assert ask(from_disk) == ask(live)


def test_arrays_are_read_only(prepared):
    live = Live(prepared)
    for array in (live.stream.tokens, live.arrays("meaning")["rows"], live.counts.data):
        assert not array.flags.writeable


def test_eight_threads_that_all_begin_at_once_get_the_same_answers(prepared, live):
    expected = [ask(live) for ask in QUESTIONS]
    shared = Live(prepared)
    begin = threading.Barrier(8)

    def ask_all(number):
        begin.wait()
        order = np.random.default_rng(number).permutation(len(QUESTIONS))
        answers = {int(i): QUESTIONS[i](shared) for i in order}
        return [answers[i] for i in range(len(QUESTIONS))]

    with ThreadPoolExecutor(8) as pool:
        for answers in pool.map(ask_all, range(8)):
            assert answers == expected


def test_a_thing_is_made_by_the_first_that_asks_and_only_once():
    made = []

    class Slow(Live):
        def __init__(self):
            self._values, self._locks, self._master = {}, {}, threading.Lock()

        @once
        def thing(self):
            made.append(threading.get_ident())
            threading.Event().wait(0.05)
            return object()

    slow = Slow()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: slow.thing, range(8)))
    assert len(made) == 1
    assert len({id(each) for each in found}) == 1


def test_a_thing_that_could_not_be_made_is_tried_again():
    class Unsure(Live):
        def __init__(self):
            self._values, self._locks, self._master, self.tries = {}, {}, threading.Lock(), 0

        @once
        def thing(self):
            self.tries += 1
            if self.tries == 1:
                raise NotReady("not yet")
            return 7

    unsure = Unsure()
    with pytest.raises(NotReady):
        unsure.thing  # noqa: B018
    assert unsure.thing == 7


def test_before_the_live_stages_are_there_questions_say_so(topics):
    live = Live(topics.path)
    assert live.missing == [stage.name for stage in LIVE_STAGES]
    for ask in (QUESTIONS[0], QUESTIONS[5], QUESTIONS[9]):
        with pytest.raises(NotReady, match="is not done yet"):
            ask(live)
    assert document(live, 3)["id"] == "letter 3"  # what needs none of them is answered
    assert search(live, "ship", way="meaning")["hits"]


def test_live_stages_are_no_part_of_the_result(topics, prepared):
    assert result_hash(ProjectFolder(prepared)) == result_hash(ProjectFolder(topics.path))
    one, other = Project.open(prepared).summary, topics.summary
    assert one["result"] == other["result"]
    assert one["skipped"] == other["skipped"]


def test_live_stages_are_kept_while_they_fit_and_go_when_they_do_not(tmp_path):
    texts, _ = letters(40)
    out = tmp_path / "p.tacit"
    explore_documents(texts, out=out, effort="quick", engine=Serial())
    folder = ProjectFolder(out)
    reply = []
    prepare_live(folder, Serial(), reply.append)
    assert [each.name for each in reply if each.seconds is not None] == ["index", "language"]
    prepare_live(folder, Serial(), pytest.fail)  # nothing is left to do
    before = Live(out)
    explore_documents(texts, out=out, effort="quick", k=2, engine=Serial())
    assert missing_live(ProjectFolder(out)) == []
    assert before.outdated  # the groups are others
    explore_documents([*texts, "a new letter"], out=out, effort="quick", engine=Serial())
    assert missing_live(ProjectFolder(out)) == ["index", "language"]
    prepare_live(ProjectFolder(out), Serial())
    assert Live(out).n == 41
    assert search(Live(out), "letter")["hits"][0]["row"] == 40


def test_live_stages_are_the_same_bits_on_any_number_of_threads(topics, tmp_path):

    found = []
    for number, engine in enumerate((Serial(), Threads(3))):
        copy = tmp_path / str(number)
        shutil.copytree(topics.path, copy)
        prepare_live(ProjectFolder(copy), engine)
        stages = ProjectFolder(copy).record["stages"]
        found.append({name: stages[name]["files"] for name in ("index", "language")})
    assert found[0] == found[1]


def test_a_damaged_live_stage_is_made_anew(prepared, tmp_path):

    copy = tmp_path / "copy.tacit"
    shutil.copytree(prepared, copy)
    folder = ProjectFolder(copy)
    target = folder.output("index") / "index.model"
    sound = target.read_bytes()
    target.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    with pytest.warns(UserWarning, match="damaged"):
        prepare_live(folder, Serial())
    assert target.read_bytes() == sound


def test_one_writer_at_a_time(few, tmp_path):
    path = shutil.copytree(few.path, tmp_path / "few.tacit")
    with ProjectFolder(path).writing(), pytest.raises(Locked, match="being written"):
        prepare_live(path)


def test_a_folder_that_is_no_project_is_named(tmp_path):
    with pytest.raises(DataError, match="not a complete project"):
        Live(tmp_path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("counts.indices", lambda a: a + 10_000),
        ("counts.indices", lambda a: a - 1),
        ("counts.indptr", lambda a: a[::-1].copy()),
        ("counts.indptr", lambda a: a * 2),
        ("counts.data", lambda a: a[:-1].copy()),
    ],
)
def test_a_table_of_counts_that_cannot_be_is_refused(prepared, tmp_path, name, change):

    from tacit.explore.stages.stage import ARRAYS, read_arrays, write_tensors

    copy = tmp_path / "copy.tacit"
    shutil.copytree(prepared, copy)
    path = ProjectFolder(copy).output("counts") / ARRAYS
    arrays = {key: np.array(value) for key, value in read_arrays(path).items()}
    arrays[name] = change(arrays[name])
    write_tensors(path, {"format": 1, "kind": "stage"}, arrays)
    with pytest.raises(DataError, match="is damaged: "):
        compare(Live(copy), {"group": 0}, {"rest": True})


def test_rows_are_found_by_id_and_by_place(live):
    assert live.row_of("letter 7") == 7
    assert live.row_of(7) == live.row_of(np.int64(7)) == 7
    with pytest.raises(KeyError, match="letter 900"):
        live.row_of("letter 900")
    with pytest.raises(IndexError, match="row 90"):
        live.row_of(90)
    with pytest.raises(TypeError, match="by its place or its id"):
        live.row_of(None)


def test_columns_of_whole_numbers_are_whole(explored):
    from tests.explore.questions.conftest import live_of

    frame = table(["one two", "two three", "three four"], ["a", None, "c"])
    live = live_of(explored("columns", lambda: frame))
    assert live.value("number", 2) == 2
    assert isinstance(live.value("number", 2), int)
    assert live.value("topic", 1) is None
