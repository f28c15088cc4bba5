"""A real browser for tests, a server for it to talk to, and what is wrong with a page."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
import urllib.request
from http.cookiejar import CookieJar

import pytest

__all__ = ["LOOKS", "barriers", "browser", "draw_around", "served", "texts", "until", "watch"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--enable-unsafe-swiftshader"]
HERE = ("file:", "data:", "blob:")
WIDE, NARROW = (1280, 900), (390, 800)
LOOKS = (("phone", "light", NARROW), ("dark", "dark", WIDE), ("light", "light", WIDE))
PATIENCE = 60  # seconds


@contextlib.contextmanager
def browser():
    """The Chromium or Chrome of this machine; skips where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no Chromium or Chrome on this machine")
    with api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


def watch(page, faults, *home):
    """Note every error, dialog, and request to anywhere but ``home``."""
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: said.type == "error" and faults.append(said.text))
    page.on("dialog", lambda dialog: (faults.append("a dialog"), dialog.dismiss()))
    page.on(
        "request",
        lambda each: None if each.url.startswith((*HERE, *home)) else faults.append(each.url),
    )


@contextlib.contextmanager
def served(path):
    """``tacit serve`` for a project, in a process of its own; the address to open."""
    command = [sys.executable, "-m", "tacit", "serve", str(path), "--no-browser", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        wait_until_ready(address)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


def wait_until_ready(address):
    """Until the index and the language model are there."""
    ask = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    ask.open(address, timeout=PATIENCE).close()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with ask.open(address.partition("?")[0] + "api/project", timeout=PATIENCE) as answer:
            if json.load(answer)["ready"]:
                return
        time.sleep(0.1)
    raise TimeoutError("the server did not get ready")


def until(page, true):
    """Wait until an expression is true; the policy of the page forbids that it does so."""
    end = time.monotonic() + PATIENCE
    while not page.evaluate(true):
        assert time.monotonic() < end, f"never: {true}"
        page.wait_for_timeout(50)


def texts(page, selector):
    return [each.strip() for each in page.locator(selector).all_inner_texts()]


def draw_around(page, corners):
    """Draw on the map around what is between these corners, given as shares of it."""
    page.locator("#stage").scroll_into_view_if_needed()
    page.click("#lasso")
    box = page.locator("#gl").bounding_box()
    places = [(box["x"] + u * box["width"], box["y"] + v * box["height"]) for u, v in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()
    page.wait_for_selector("#side .sub:has-text('Drawn selection')")


def barriers(page, looks=LOOKS, parts=()):
    """What axe-core finds against the page in the light, in the dark and on a phone: rules of
    WCAG 2 A and AA and its good practices, each with the first element it is about. Only the
    light page is looked at as a whole where ``parts`` are given."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    found = []
    for look, colors, size in looks:
        page.emulate_media(color_scheme=colors, reduced_motion="reduce")
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.wait_for_timeout(200)  # what is drawn to measure is drawn again
        inside = {"include": [[part] for part in parts]} if parts and look != "light" else None
        for each in axe.Axe().run(page, inside).response["violations"]:
            found.append(f"{look}: {each['id']}: {each['nodes'][0]['html'][:160]}")
    return found


@contextlib.contextmanager
def open_reports(chromium):
    """Opens reports of projects in pages; at the end there were no faults."""
    faults, pages = [], []

    def open_report(project, query="", **options):
        page = chromium.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
        pages.append(page)
        watch(page, faults)
        page.goto(f"file://{project.path / 'report.html'}{query}")
        page.wait_for_selector('html[data-ready="1"]', state="attached")
        return page

    yield open_report
    for page in pages:
        page.close()
    assert not faults
