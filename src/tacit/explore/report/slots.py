"""Which colour each kind gets: kinds that touch on the map get the most different ones."""

import math
import random

import numpy as np

from tacit.explore.report.page_colors import LIGHT, SLOTS

__all__ = ["assign_slots", "color_distances"]

STARTS, SWAPS = 4, 300  # swaps for each kind
FIRST = 12  # slots that differ the most
NEAR = 0.12  # of the map's width: how far the wish for difference reaches
CLOSE = 0.1  # distance in OKLab up to which two colours may be confused
LIGHTNESS = 0.6  # how much of a difference in lightness counts: hue is what names a colour
WEIGHTS = np.array([0.6, 0.2, 0.2])  # of normal, deuteranope and protanope eyes
TO_CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
TO_LAB = np.array([
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
])  # fmt: skip
EYES = (  # on linear RGB: normal, deuteranope, protanope (Machado, Oliveira, Fernandes 2009)
    np.eye(3),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
              [-0.01182, 0.04294, 0.968881]]),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
              [-0.003882, -0.048116, 1.051998]]),
)  # fmt: skip


def color_distances(colors: list[str], lightness: float = 1.0) -> np.ndarray:
    """How different colours look to normal, deuteranope and protanope eyes, in OKLab:
    (3, colors, colors).

    >>> color_distances(["#000000", "#ffffff"])[:, 0, 1].round(2).tolist()
    [1.0, 1.0, 1.0]
    """
    coded = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    found = []
    for eye in EYES:
        lab = np.cbrt(np.clip(linear @ eye.T, 0, 1) @ TO_CONES.T) @ TO_LAB.T
        lab[:, 0] *= lightness
        found.append(np.linalg.norm(lab[:, None] - lab[None], axis=2))
    return np.stack(found)


def assign_slots(points: np.ndarray, labels: np.ndarray, kinds: int) -> list[int]:
    """A slot of the palette for every kind, by annealing. Past 24 kinds slots repeat.

    ``points`` are (n, 2) in the unit square.
    """
    if kinds == 0:
        return []
    sizes = np.bincount(labels, minlength=kinds)
    sums = np.stack([np.bincount(labels, points[:, j], minlength=kinds) for j in (0, 1)], 1)
    centers = sums / np.maximum(sizes, 1)[:, None]
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    touch = 0.25 * np.exp(-apart / NEAR) + shared_cells(points, labels, kinds)
    np.fill_diagonal(touch, 0)
    confusions = np.exp(-color_distances(LIGHT, LIGHTNESS) / CLOSE)
    confused = np.tensordot(WEIGHTS, confusions, axes=1)
    np.fill_diagonal(confused, 3.0)
    chance = random.Random(1)
    best: tuple[float, list[int]] | None = None
    for start in range(STARTS):
        slots = [i % SLOTS for i in range(max(kinds, FIRST if kinds <= FIRST else SLOTS))]
        if start:
            chance.shuffle(slots)
        cost = anneal(slots, kinds, touch, confused, chance)
        if best is None or cost < best[0]:
            best = cost, slots[:kinds]
    return best[1] if best else []


def anneal(slots: list[int], kinds: int, touch, confused, chance: random.Random) -> float:
    """Swap slots in place, seldom for the worse; the cost at the end."""
    held = np.array(slots)

    def pull(kind: int) -> float:
        return float(touch[kind] @ confused[held[kind], held[:kinds]])

    cost = float((touch * confused[np.ix_(held[:kinds], held[:kinds])]).sum()) / 2
    heat, cooling = cost * 0.05, 0.01 ** (1 / (SWAPS * kinds))
    for _ in range(SWAPS * kinds):
        a, b = chance.randrange(kinds), chance.randrange(len(held))
        inside = b < kinds
        before = pull(a) + (pull(b) if inside else 0.0)
        held[a], held[b] = held[b], held[a]
        change = pull(a) + (pull(b) if inside else 0.0) - before
        if change < 0 or chance.random() < math.exp(-change / max(heat, 1e-9)):
            cost += change
        else:
            held[a], held[b] = held[b], held[a]
        heat *= cooling
    slots[:] = held.tolist()
    return cost


def shared_cells(points: np.ndarray, labels: np.ndarray, kinds: int, cells: int = 48):
    """How much kinds share the cells of a grid over the map."""
    if not len(points):
        return np.zeros((kinds, kinds))
    at = np.clip((points * cells).astype(int), 0, cells - 1)
    table = np.zeros((cells * cells, kinds))
    np.add.at(table, (at[:, 1] * cells + at[:, 0], labels), 1)
    table /= np.maximum(np.linalg.norm(table, axis=0), 1)
    return table.T @ table
