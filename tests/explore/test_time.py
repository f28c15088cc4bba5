"""Documents over time: dates as people write them, periods, and words that rise and fall."""

from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import Threads
from tacit.data import Documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import run_stages
from tacit.explore.stages.dates import DAY, MONTH, YEAR, header_date, read_date, read_dates
from tacit.explore.stages.time import cut_time, false_discoveries, trend
from tests.explore.corpora import only
from tests.explore.test_pipeline import QUICK, letters, look


def day(year, month=1, number=1):
    return (date(year, month, number) - date(1970, 1, 1)).days


# --- Dates ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1993-04-06", (day(1993, 4, 6), DAY)),
        ("1993-04-06T12:30:00Z", (day(1993, 4, 6), DAY)),
        ("1993-04-06 12:30", (day(1993, 4, 6), DAY)),
        ("1993-04", (day(1993, 4), MONTH)),
        ("1993", (day(1993), YEAR)),
        (1993, (day(1993), YEAR)),
        (1993.0, (day(1993), YEAR)),
        ("19930406", (day(1993, 4, 6), DAY)),
        ("Tue, 6 Apr 1993 12:00:00 GMT", (day(1993, 4, 6), DAY)),
        ("6 Apr 93 12:00:00 GMT", (day(1993, 4, 6), DAY)),
        ("6 April 1993", (day(1993, 4, 6), DAY)),
        ("April 6, 1993", (day(1993, 4, 6), DAY)),
        ("Tuesday, April 6th, 1993", (day(1993, 4, 6), DAY)),
        ("April 1993", (day(1993, 4), MONTH)),
        ("06.04.1993", (day(1993, 4, 6), DAY)),
        ("1993/04/06", (day(1993, 4, 6), DAY)),
        ("13/04/1993", (day(1993, 4, 13), DAY)),
        ("04/13/1993", (day(1993, 4, 13), DAY)),
        ("03/04/1993", (day(1993), YEAR)),
        (734_054_400, (day(1993, 4, 6), DAY)),
        ("1993-02-30", None),
        ("0000-00-00", None),
        ("next year", None),
        ("", None),
        (True, None),
        ("12345678901234567890", None),
        ("9" * 500, None),
    ],
)
def test_dates_are_read_as_people_write_them(text, expected):
    found = read_date(text)
    assert (found if found is None else tuple(found)) == expected


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=60), st.floats(), st.integers(), st.none(), st.booleans()))
def test_no_value_breaks_the_reading_of_dates(value):
    read_dates("date", [value, "1993-04-06"])
    if isinstance(value, str):
        header_date(f"Date: {value}\n\ntext")


@settings(max_examples=100, deadline=None)
@given(st.dates(date(1000, 1, 1), date(2199, 12, 31)))
def test_every_spelling_of_a_day_is_the_same_day(when):
    wanted = (when - date(1970, 1, 1)).days
    month = when.strftime("%B")
    for text in (
        f"{when.year:04d}-{when.month:02d}-{when.day:02d}",
        f"{when.day} {month} {when.year:04d}",
        f"{month} {when.day}, {when.year:04d}",
        f"{when.day:02d}.{when.month:02d}.{when.year:04d}",
    ):
        assert read_date(text).day == wanted


def test_one_date_that_tells_settles_the_order_of_all_slashes():
    found = read_dates("date", ["03/04/2020", "25/04/2020"])
    assert found.days.tolist() == [day(2020, 4, 3), day(2020, 4, 25)]
    both = read_dates("date", ["03/13/2020", "25/04/2020", "03/04/2020"])
    assert both.exact.tolist() == [DAY, DAY, YEAR]


def test_what_could_not_be_read_is_counted():
    values = ["1993-04-06"] * 18 + ["n.d.", None, "", "unknown"]
    found = read_dates("date", values)
    assert (found.unreadable, found.missing) == (2, 2)
    assert found.unread == ["n.d.", "unknown"]
    assert read_dates("date", ["1993-04-06", "n.d.", "unknown"]) is None


@pytest.mark.parametrize(
    ("name", "values", "dates"),
    [
        ("year", [1990, 1991, 1990], True),
        ("pages", [12, 40, 300] * 20, False),
        ("score", [1990, 5, 1991] * 20, False),
        ("x", [float(1990 + i % 5) for i in range(60)], True),
        ("label", ["a", "b"] * 30, False),
        ("rating", [1.0, 2.0, 5.0] * 20, False),
        ("text", ["May we go to the sea", "March on"] * 20, False),
    ],
)
def test_numbers_are_years_only_where_that_is_likely(name, values, dates):
    assert (read_dates(name, values) is not None) == dates


# --- Periods ---


@pytest.mark.parametrize(
    ("step", "n", "unit"),
    [(1, 200, "week"), (30, 300, "year"), (365, 400, "decade"), (3, 30, "month")],
)
def test_periods_are_the_finest_that_documents_fill(step, n, unit):
    days = np.arange(n) * step
    found = cut_time(days, np.full(n, DAY))
    assert found.unit == unit
    assert len(found.names) <= 40
    assert len(set(found.names)) == len(found.names)
    assert (np.diff(found.codes) >= 0).all()


def test_years_alone_are_not_cut_finer():
    found = cut_time(np.array([day(1990 + i % 3) for i in range(600)]), np.full(600, YEAR))
    assert (found.unit, found.names) == ("year", ["1990", "1991", "1992"])


def test_a_slip_of_the_pen_does_not_stretch_the_line():
    days = np.array([day(1990) + i for i in range(300)] + [day(1090), day(2190)])
    found = cut_time(days, np.full(302, DAY))
    assert found.outside == 2
    assert found.codes[-2:].tolist() == [-1, -1]
    assert found.names[0].endswith("1990")


def test_one_day_is_no_line():
    assert cut_time(np.full(50, 8000), np.full(50, DAY)) is None
    assert cut_time(np.zeros(0, np.int64), np.zeros(0, np.int8)) is None


# --- Words ---


def explored_times(path, texts, dates, engine="serial"):
    folder = ProjectFolder(path)
    with folder.writing():
        table = pa.table({"text": texts, "date": dates})
        documents = Documents.of(table, text="text")
        run_stages(folder, documents, QUICK, engine=engine, choice=only("time"))
    return look(folder)


def drifting(n=150):
    """Letters whose topics follow one another, and their dates."""
    texts, topics = letters(n)
    order = sorted(range(n), key=lambda i: (topics[i], i))
    dates = [f"{1990 + k // 10}-06-15" for k in range(n)]
    return [texts[i] for i in order], dates


def test_words_of_early_documents_fall_and_of_late_ones_rise(tmp_path):
    texts, dates = drifting()  # bread, then sea, then stars
    context = explored_times(tmp_path / "a", texts, dates)
    facts = context.facts("time")
    assert (facts["unit"], facts["periods"][0], len(facts["periods"])) == ("year", "1990", 15)
    assert facts["sizes"] == [10] * 15
    rising = {each["word"] for each in facts["rising"]}
    falling = {each["word"] for each in facts["falling"]}
    assert {"orbit", "comet", "planet"} & rising
    assert {"flour", "oven", "yeast"} & falling
    assert not rising & falling
    for each in facts["rising"]:
        assert each["late"] > 1.5 * each["early"]
        assert len(each["shares"]) == 15
    many = explored_times(tmp_path / "b", texts, dates, engine=Threads(3))
    assert many.facts("time") == facts


def test_parts_of_web_addresses_do_not_rise(tmp_path):
    texts, dates = drifting()
    late = [f"{text} https://t.co/ttgeqx" if i > 110 else text for i, text in enumerate(texts)]
    facts = explored_times(tmp_path, late, dates).facts("time")
    assert facts["rising"]
    assert not {"ttgeqx", "https", "co"} & {each["word"] for each in facts["rising"]}


def test_dates_dealt_by_chance_move_no_word(tmp_path):
    texts, dates = drifting()
    np.random.default_rng(1).shuffle(dates)
    facts = explored_times(tmp_path, texts, dates).facts("time")
    assert facts["asked"] > 20
    assert facts["found"] <= 2


def test_longer_documents_later_are_no_rise():
    """Long documents hold more words of every kind; strata of length take that out."""
    rng = np.random.default_rng(2)
    long = np.arange(2000) >= 1000
    held = sp.csr_array(
        (rng.random((2000, 40)) < np.where(long, 0.6, 0.2)[:, None]).astype(float)
    )
    when = np.arange(2000.0)
    naive = trend(held, when, np.zeros(2000, int))
    fair = trend(held, when, long.astype(int))
    assert (naive > 5).all()
    assert false_discoveries(fair, 0.05).sum() <= 2


def test_the_trend_of_one_stratum_is_that_of_cochran_and_armitage():
    """For two groups of documents it is the square root of the chi-square with n - 1."""
    rng = np.random.default_rng(3)
    late = rng.integers(0, 2, 300)
    held = (rng.random(300) < 0.3 + 0.2 * late).astype(float)
    table = np.histogram2d(held, late, bins=2)[0]
    expected = table.sum(1)[:, None] * table.sum(0) / table.sum()
    chi = ((table - expected) ** 2 / expected).sum() * 299 / 300
    found = trend(sp.csr_array(held[:, None]), late.astype(float), np.zeros(300, int))
    assert found[0] ** 2 == pytest.approx(chi)


def test_dates_in_the_heads_of_documents_make_a_line(tmp_path):
    texts, dates = drifting(60)
    both = zip(dates, texts, strict=True)
    heads = [f"From: ann\nDate: {when}\n\n{text}" for when, text in both]
    folder = ProjectFolder(tmp_path)
    with folder.writing():
        raw = replace(QUICK, clean=False)
        run_stages(folder, Documents.of(heads), raw, engine="serial", choice=only("time"))
    facts = look(folder).facts("time")
    assert (facts["source"], facts["in_header"], facts["dated"]) == ("", 60, 60)
    assert facts["periods"][0] == "1990"


@pytest.mark.parametrize(
    ("dates", "why"),
    [
        (["1993-04-06"] * 40, "all dates fall into one period"),
        ([None] * 39 + ["1993-04-06"], "1 date is too few"),
        (["x"] * 40, "no column and no header holds dates"),
    ],
)
def test_why_there_is_no_line_is_said(tmp_path, dates, why):
    facts = explored_times(tmp_path, letters(40)[0], dates).facts("time")
    assert facts["why"].startswith(why)
    assert "periods" not in facts


@pytest.mark.parametrize("n", [0, 1, 2])
def test_very_few_documents_have_no_line(tmp_path, n):
    table = pa.table({"text": pa.array(["a ship"] * n, pa.string()), "year": [1990] * n})
    folder = ProjectFolder(tmp_path)
    with folder.writing():
        run_stages(folder, Documents.of(table, text="text"), QUICK, engine="serial")
    assert "periods" not in look(folder).facts("time")


def test_parts_of_addresses_are_no_words_that_rise_but_people_who_are_mentioned_are(tmp_path):
    early, late = "and an old ship or two boats", "said @annlee at https://x.example/tTgeqxNq"
    texts = [f"we saw the harbor {late if i > 90 else early}" for i in range(120)]
    dates = [f"20{i // 12 + 10}-03-01" for i in range(120)]
    facts = explored_times(tmp_path / "a", texts, dates).facts("time")
    rising = {each["word"] for each in facts["rising"]}
    assert "annlee" in rising
    assert {"ttgeqxnq", "example", "https"}.isdisjoint(rising)
