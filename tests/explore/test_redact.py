"""A report without the texts."""

import base64
import json
import re
import zlib

import pytest

import tacit
from tacit.cli.main import main
from tests.explore.browsing import open_reports
from tests.explore.corpora import letters, table

SECRET = "Confidential memorandum for Ottoline Quixworth about the zephyrine merger"


def texts_with_secrets():
    """Letters, three of them with a secret, and four more copies of one of them."""
    texts, kinds = letters(90)
    texts = [f"{SECRET} {i}\n{t}" if i % 40 == 0 else t for i, t in enumerate(texts)]
    return table(texts + 4 * [texts[1]], list(kinds) + 4 * [kinds[1]])


@pytest.fixture
def secrets(explored):
    return explored("secrets", texts_with_secrets)


def everything(page):
    """A page with all that is packed in it, as text."""
    out = page
    for packed in re.findall(r">([A-Za-z0-9+/=\s]{24,})<", page):
        out += unpacked(packed)
    core = json.loads(re.search(r'id="d-core">(.*?)</script>', page, re.S)[1])
    for kind, coded in core["arrays"].values():
        out += base64.b64decode(coded).decode("latin-1") if kind == "u8" else ""
    return out


def unpacked(text):
    try:
        return zlib.decompress(base64.b64decode(text)).decode("utf-8", "replace")
    except (ValueError, zlib.error):
        return ""


def test_no_title_no_opening_no_id_and_no_rare_word_is_in_it(secrets, tmp_path):
    full = everything(secrets.report(tmp_path / "full.html").read_text(encoding="utf-8"))
    assert SECRET in full  # what is looked for can be found
    page = secrets.report(tmp_path / "redacted.html", redact=True)
    text = everything(page.read_text(encoding="utf-8"))
    for word in (SECRET, "Ottoline", "ottoline", "quixworth", "zephyrine", "merger"):
        assert word not in text
    for document in letters(90)[0]:
        assert document[:60] not in text
        assert " ".join(document.split()[:4]) not in text
    assert not any(each in text for each in secrets.documents["id"] if len(each) > 6)
    core = json.loads(re.search(r'id="d-core">(.*?)</script>', text, re.S)[1])
    assert core["meta"]["search"] == {"kind": "none"}
    assert len(base64.b64decode(core["arrays"]["post"][1])) == 0  # which words are where
    assert min(core["meta"]["termDf"]) >= 5


@pytest.mark.slow
def test_the_redacted_page_works(secrets, chromium, tmp_path):
    class Written:
        path = tmp_path

    secrets.report(tmp_path / "report.html", redact=True)
    with open_reports(chromium) as opened:
        page = opened(Written)
        assert page.locator("#side .legend button").count() >= 2
        assert page.locator(".search").is_hidden()
        page.click("#side .legend button >> nth=0")
        page.wait_for_selector("#side h3:has-text('documents')")
        page.click("#side .docs button >> nth=0")
        assert re.match(r"Document \d+", page.inner_text("#dr-t"))
        page.keyboard.press("Escape")
        assert "left out of this page" in page.inner_text("#map")


def test_the_command_writes_it_beside_the_report(secrets, tmp_path, capsys):
    out = tmp_path / "shared.html"
    assert main(["report", str(secrets.path), "--redact", "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    assert SECRET not in everything(out.read_text(encoding="utf-8"))
    assert main(["report", str(tmp_path / "nothing"), "--redact"]) == 4


def test_names_in_scripts_without_spaces_and_of_languages_stay(tmp_path):
    sea = ["轮船在海洋中航行", "海洋的轮船很大", "我们看见海洋和轮船", "轮船离开了海洋"]
    bread = ["面包师在烤面包", "烤箱里的面包师", "面包师打开烤箱", "这个烤箱很好"]
    texts = [f"{text}{i}" for i in range(8) for text in sea + bread]
    project = tacit.explore([*texts, "神秘词语"], k=2, effort="quick", out=tmp_path / "c.tacit")
    page = project.report(tmp_path / "c.html", redact=True).read_text(encoding="utf-8")
    core = json.loads(re.search(r'id="d-core">(.*?)</script>', everything(page), re.S)[1])
    names = {part for group in core["meta"]["groups"] for part in group["name"]}
    assert {"轮船", "海洋"} & names
    assert "神秘" not in everything(page)
