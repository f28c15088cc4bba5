"""How many groups? The measures by number of groups, and the groups there would be."""

import numpy as np

from tacit.explore.report.phrases import number, plain, section
from tacit.explore.report.report import Report

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 50, (("howmany", "How many?"),)
WHAT_IFS = 2_000_000  # documents times numbers of groups on the page


def data(report: Report) -> None:
    """The measures with their level by chance, and the labels for other numbers of groups."""
    measures: dict[str, dict[int, list[float]]] = {"silhouette": {}, "gap": {}, "stability": {}}
    chance: dict[str, dict[int, float]] = {"silhouette": {}, "stability": {}}
    table = report.facts["groups"].get("choice", {}).get("table", [])
    for row in table:
        for name, values in measures.items():
            if row[name] is not None and row["k"] > 1:
                error = row["gap_error"] if name == "gap" else 0.0
                values[row["k"]] = [round(row[name], 4), round(error or 0.0, 4)]
        for name, level in chance.items():
            if row[f"null_{name}"] is not None and row["k"] > 1:
                level[row["k"]] = round(row[f"null_{name}"], 4)
    ks = report.facts["what_if"].get("ks", []) if report.shown.mapped else []
    if ks:
        labels = report.context.arrays("what_if")["labels"]
        most = max(4, WHAT_IFS // report.shown.mapped)  # of large collections only some numbers
        chosen = np.unique(np.linspace(0, len(ks) - 1, min(most, len(ks))).astype(int))
        ks = [ks[i] for i in chosen]
        report.add_array("whatif", labels[chosen][:, report.shown.on_map])
    k = report.meta["K"]
    wanted = k // 2 if k >= 6 else k + 2
    report.meta |= {
        "ks": [row["k"] for row in table if row["k"] > 1],
        "measures": measures,
        "chance": chance,
        "whatks": ks,
        "whatIf": min(ks, key=lambda other: (abs(other - wanted), other)) if ks else k,
    }


def words(report: Report) -> str:
    """The charts, the slider of other numbers and, live, a form to group again."""
    meta, choice = report.meta, report.facts["groups"].get("choice")
    if not (choice and meta["ks"] and meta["n"]):
        return ""
    best, k = choice["best"], meta["K"]
    if report.facts["groups"].get("asked"):
        heading = f"You asked for {k} groups; " if k > 1 else "You asked for one group; "
        recommended = "no groups" if best == 1 else best
        heading += (
            "the measures agree" if best == k else f"the measures recommend {recommended}"
        )
    elif best == 1:
        heading = "No division into groups repeats clearly better than chance"
    elif choice.get("flat", best) == best:
        heading = f"{number(best).capitalize()} groups are a reasonable number, by two tests"
    else:
        flat = choice["flat"]
        heading = f"The tree gives {best} groups; of the divisions of all documents at once, "
        heading += f"the one into {flat} repeats best" if flat > 1 else "none repeats"
    lead = "".join(f"<p>{plain([s])}</p>" for s in [*choice["reasons"], *choice["notes"]])
    tree = (
        " The groups of this report come from a tree instead, where each level divides the "
        "groups of the one before it."
    )
    lead += (
        "<p>For the charts all documents were divided at once, separately for every number of "
        f"groups.{tree if k > 1 else ''}</p>"
    )
    body = CHARTS
    if len(meta["whatks"]) > 1:
        ks = [*meta["whatks"], *([k] if k > 1 else [])]
        body += WHAT_IF.replace("{least}", str(min(ks))).replace("{most}", str(max(ks)))
    return section("howmany", "How many groups?", heading, lead,
                   body + (DIVIDE if report.live else ""))  # fmt: skip


CHARTS = """<div class="sm"><div><h3 class="minor">Separation</h3><p class="note">Silhouette: \
are documents closer to their own group than to the next? At best 1. Dashed: data without \
groups.</p><div id="k1"></div></div><div><h3 class="minor">Better than chance</h3><p \
class="note">Gap statistic: are groups tighter than in data of the same shape without groups? \
Band: standard error.</p><div id="k2"></div></div><div><h3 class="minor">Repeatability</h3><p \
class="note">Agreement with groups found in halves of the documents. Dashed: data without \
groups.</p><div id="k3"></div></div></div>"""
WHAT_IF = """
<div class="whatif"><label for="kr">What if there were</label><output id="ko" for="kr">\
</output><input type="range" id="kr" min="{least}" max="{most}" value="{least}"></div>
<div class="alg"><div id="alv"></div><div class="verdict" id="verdict" aria-live="polite">\
</div></div>"""
DIVIDE = """
<div class="block" id="divide"><h3 class="sub3">Group again</h3><p class="note">Finds the \
groups again with another number or effort. Labels stay; everything that depends on the groups \
is computed again, and this page then shows the new result.</p>
<form class="ask" id="df"><label class="lbl" for="dk">Groups</label><input class="field short" \
id="dk" type="number" min="2" max="500" step="1" inputmode="numeric" placeholder="chosen">\
<label class="lbl" for="de">Effort</label><select class="field" id="de"><option \
value="quick">Quick</option><option value="normal">Normal</option><option \
value="thorough">Thorough</option></select><button class="btn go">Group again</button></form>\
<div id="dividejob"></div></div>"""
