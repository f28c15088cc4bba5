"""Small collections of every kind: with topics, without, tiny, and hostile."""

import numpy as np
import pyarrow as pa

from tacit.explore.project.pipeline import STAGES
from tacit.explore.project.plan import closure
from tacit.explore.project.settings import Choice
from tests.explore.test_pipeline import letters

__all__ = ["HOSTILE", "hostile_table", "letters", "odd_table", "only", "one_topic", "table"]

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 2'>",
    "--></style><svg onload='window.hacked = 3'>",
    "\u202eevil\u202c right to left \u2066isolate",
    "\x1b[31mred\x1b[0m \x00 nul \x07 bell",
    "=cmd|'/c calc'!A1",
    "W" * 400,
    "{{script}} <!--map--> <!--/map--> {{core}}",
    "\u2028line separator\u2029 &lt;b&gt; &amp;",
    "😀" * 40 + " עברית",
]


def table(texts, topics):
    """Documents with ids, a column to colour by and one with too many values to."""
    numbers = [str(i) for i in range(len(texts))]
    return pa.table({"text": texts, "id": [f"letter {i}" for i in numbers],
                     "topic": topics, "number": numbers})  # fmt: skip


def hostile_table(n=90):
    """Documents on three topics, each of which begins with something nasty."""
    texts, _ = letters(n)
    bad = [HOSTILE[i % len(HOSTILE)] for i in range(n)]
    return pa.table({
        "text": [f"{first}\n{text}" for first, text in zip(bad, texts, strict=True)],
        "id": [f"{i} {first[:60]}" for i, first in enumerate(bad)],
        "<b>kind</b>": [HOSTILE[i % 3] for i in range(n)],
    })  # fmt: skip


def odd_table():
    """Letters with a copy, a near copy, a stranger, an empty one and one of a lone word."""
    texts, topics = letters(120)
    texts[5], texts[7] = texts[4], texts[6] + " extra words"
    texts[11], texts[12] = "", "zzz"
    strange = [f"quark{i % 9} plasma{i % 7}" for i in range(40)]
    texts[50] = "\n".join(["A strange thing", *strange])
    texts[51] = "Another\nquark1 plasma2 " + " ".join(texts[3].split()[:30])
    return table(texts, topics)


def one_topic(n=80, seed=0):
    """Documents that all draw from the same words."""
    rng = np.random.default_rng(seed)
    parts = [a + b for a in "klmrtnpsdv" for b in "aou"]
    words = [a + b for a in parts for b in parts]
    return [" ".join(rng.choice(words, 60)) for _ in range(n)]


def only(*stages):
    """The choice of these stages and what they need."""
    wanted = closure(stages)
    return Choice(left_out={s.name: "not needed" for s in STAGES if s.name not in wanted})
