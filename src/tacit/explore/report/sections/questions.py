"""Find, Compare, Labels: the sections of the live page, which a server answers."""

from tacit.explore.report.phrases import count, section
from tacit.explore.report.report import Report

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 30, (("find", "Find"), ("compare", "Compare"), ("labels", "Labels"))


def data(report: Report) -> None:
    """The rows of the documents on the page, which the server knows them by."""
    if report.live:
        report.add_array("row", report.shown.documents)
        report.meta |= {"effort": report.settings.effort, "run": report.result}


def words(report: Report) -> str:
    """The forms of the three sections; nothing in a report that stands alone."""
    if not report.live:
        return ""
    read = count(report.n_read, "document")
    rows = (
        (f"Search the full text of {read}, three ways at once", FIND_LEAD, FIND),
        ("Which words distinguish two selections", COMPARE_LEAD, COMPARE),
        ("No document has a label yet", LABELS_LEAD, LABELS),
    )
    return "".join(section(*nav, *row) for nav, row in zip(NAV, rows, strict=True))


FIND_LEAD = """<p>Boolean search returns exactly the documents that match, ranked search the \
best matches first, and search by meaning also documents that use other words.</p>"""
FIND = """<form class="ask" id="ff" role="search"><label class="vh" for="fq">Search the full \
text</label><input class="field" id="fq" type="search" autocomplete="off" spellcheck="false" \
placeholder="Words, “a phrase”, ship AND (storm OR wreck) NOT harbor" maxlength="1000"><button \
class="btn go">Search</button></form>
<div id="preparing"></div>
<div class="three" id="found" hidden></div>
<div class="block" id="context">
<h3 class="sub3">In context</h3><p class="note">Every use of a word or phrase with the text \
around it. The word opens its document.</p>
<form class="ask" id="cf"><label class="vh" for="cq">Word or phrase to see in context</label>\
<input class="field" id="cq" autocomplete="off" spellcheck="false" autocapitalize="none" \
placeholder="A word or a phrase" maxlength="200"><button class="btn go">Show</button><div \
class="seg" id="csort" role="group" aria-labelledby="csl"><span class="lbl" id="csl">Sort \
by</span></div></form>
<div id="lines"></div>
</div>"""
COMPARE_LEAD = """<p>Choose a selection, a group, a label or a search as A and another as B, \
here or with the buttons next to them.</p>"""
COMPARE = """<div class="ab" id="ab"></div>
<div id="contrast"></div>"""
LABELS_LEAD = """<p>A label is a name of your own. Give it to a selection on the map, to \
documents in a list, or to an open document; it is saved in the project. Spread then predicts \
the label of every other document, with a probability.</p>"""
LABELS = """<div class="lgrid">
<div><h3 class="sub3">Labels</h3><div id="labellist"></div></div>
<div><h3 class="sub3">Spread to the rest</h3><div id="spreadbox"></div><div id="next"></div>\
</div>
</div>"""
