"""Take the pictures of the report and of the live page with a browser: `make pictures`.

    python docs/screenshots.py [--project docstrings.tacit] [NAME ...]

Without --project it explores the docstrings of the installed packages first. Needs playwright
and Chromium. Run it when the report has changed, and look at the pictures.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from pictures import shrink  # noqa: E402

from tests.explore.browsing import browser, served  # noqa: E402

SHOTS: dict[str, tuple[Callable, tuple[int, int], str]] = {}
WIDE, PHONE = (1280, 800), (390, 800)
PATIENCE = 180_000  # milliseconds; a busy machine takes its time


def shot(size: tuple[int, int] = WIDE, look: str = "light") -> Callable:
    def register(function: Callable) -> Callable:
        SHOTS[function.__name__] = (function, size, look)
        return function

    return register


def show(page, section: str, above: int = -45) -> None:
    """Scroll a section below the bar of the page, past its margin, and wait for the drawing."""
    page.mouse.move(2, 2)  # points at nothing
    page.evaluate(
        "([s, a]) => window.scrollTo(0, document.querySelector(s)"
        ".getBoundingClientRect().top + scrollY - a)",
        [section, above],
    )
    page.wait_for_timeout(1500)


def close_guide(page) -> None:
    guide = page.locator("#guide button[aria-label='Close the guide']")
    if guide.is_visible():
        guide.click()
        page.evaluate("document.activeElement.blur()")


def finer_level(page, least: int = 8) -> None:
    """Move the slider until the legend has this many groups."""
    close_guide(page)
    slider = page.locator("#lv")
    while slider.count() and page.locator("#side .legend button").count() < least:
        before = slider.input_value()
        slider.press("ArrowRight")
        page.wait_for_timeout(500)
        if slider.input_value() == before:  # the finest level
            break
    page.evaluate("document.activeElement.blur()")


@shot((1280, 1040))
def report_map(page):
    finer_level(page)
    show(page, "#map")


@shot((1280, 860))
def report_groups(page):
    show(page, "#groups")


def search(page, words: str) -> None:
    page.fill("#fq", words)
    page.keyboard.press("Enter")
    page.wait_for_selector("#found .way:nth-child(3) .docs li")


@shot((1280, 860))
def live_find(page):
    search(page, "random numbers")
    show(page, "#find")


@shot((1280, 800), "dark")
def live_document_dark(page):
    search(page, "confidence interval")
    show(page, "#find")
    page.click("#found .way:nth-child(2) .docs button >> nth=0")
    page.wait_for_timeout(1500)


@shot((1280, 700), "dark")
def live_compare_dark(page):
    search(page, "matrix")
    page.click("#found .way:nth-child(1) .btn:has-text('Set as A')")
    search(page, "string")
    page.click("#found .way:nth-child(1) .btn:has-text('Set as B')")
    page.wait_for_timeout(2500)
    show(page, "#compare")


def label_groups(page, n: int) -> None:
    """Label n groups of the map with their first word."""
    finer_level(page)
    show(page, "#map")
    for place in range(n):
        group = page.locator("#side .legend button").nth(place)
        name = group.inner_text().split()[0]
        group.click()
        page.fill("#side .labelbox input", name)
        page.click("#side .labelbox .btn")
        page.wait_for_timeout(600)
        page.click("#side .btn:has-text('Clear')")


@shot((1280, 860))
def live_labels(page):
    label_groups(page, 5)
    page.click("#spreadbox .go")
    page.wait_for_selector("#next .docs button")
    page.wait_for_timeout(6000)  # until the message at the bottom is gone
    show(page, "#labels")


@shot((1280, 860))
def live_labels_map(page):
    page.click("#spreadbox .btn:has-text('Color the map')")
    close_guide(page)
    show(page, "#map")


@shot(PHONE)
def live_phone(page):
    search(page, "random seed")
    show(page, "#find", above=-20)


def take(name: str, opened: Any, project: Path, address: str) -> bool:
    """One picture; False if the page is not as expected."""
    act, (width, height), look = SHOTS[name]
    size = {"width": width, "height": height}
    context = opened.new_context(viewport=size, color_scheme=look)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    report = (project / "report.html").resolve().as_uri()
    page.goto(address if name.startswith("live") else report)
    page.wait_for_timeout(2000)
    try:
        act(page)
        path = HERE / "pictures" / f"{name}.png"
        page.screenshot(path=path)
        shrink(path)
        print(f"{name}: {path.stat().st_size / 1000:.0f} kB", flush=True)
        return True
    except Exception as problem:
        print(f"{name}: {str(problem).splitlines()[0]}", flush=True)
        return False
    finally:
        context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--project", help="project to show [default: explore docstrings]")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SHOTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "docstrings.tacit"
        if options.project is None:
            explore = [sys.executable, "-m", "tacit", "explore", "--docs", "--quick"]
            subprocess.run([*explore, "--out", str(project)], check=True)
        else:
            shutil.copytree(options.project, project)  # the pictures show labels being given
            (project / "labels.sqlite").unlink(missing_ok=True)
        with browser() as opened, served(project) as address:
            names = options.names or list(SHOTS)
            taken = [take(name, opened, project, address) for name in names]
    return 0 if all(taken) else 1


if __name__ == "__main__":
    sys.exit(main())
