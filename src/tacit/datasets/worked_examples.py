"""The small data of worked examples: what university lecture notes on unsupervised learning and
text compute by hand. ``tacit demo`` and the tests read them here.

>>> from tacit.datasets import worked_examples
>>> worked_examples.TWELVE_POINTS.shape
(12, 2)
"""

import numpy as np

__all__ = [
    "BIASED_LIGHTS", "BODY_COLUMNS", "BODY_EIGENVALUES", "BODY_MEANS", "COWPERSON_TEXT",
    "COWPERSON_WORDS", "FIVE_DISTANCES", "FIVE_POINTS", "IMPOSSIBLE_RATINGS",
    "POSSIBLE_RATINGS",
    "RANK_TWO_BASIS", "RANK_TWO_MOVED", "RANK_TWO_ROWS", "SHAPES", "SHAPE_CLUSTERS",
    "SKIP_GRAM_SENTENCE",
    "STORY_PROPORTIONS", "STORY_TOPICS", "TWELVE_CENTERS", "TWELVE_POINTS",
]  # fmt: skip

# k-means by hand: twelve points, and two centers that are badly placed.
TWELVE_POINTS = np.array(
    [
        (-2, 1.5), (-1, 1), (-2, 3), (-1, 2.5), (-0.5, 3), (-2, -1.8),
        (-1, -1.5), (2, -1.5), (1, -1), (2, -3), (1, -2.5), (1, -3),
    ]
)  # fmt: skip
TWELVE_CENTERS = np.array([(-2.5, 1.5), (-1.5, 1.0)])

# Five points and the lower triangle of their distances, as printed.
FIVE_POINTS = np.array([(0, 2), (0, 0), (1, 1), (2, -1), (3, -1)], float)
FIVE_DISTANCES = {
    (2, 1): 2.00, (3, 1): 1.41, (3, 2): 1.41, (4, 1): 3.61, (4, 2): 2.24, (4, 3): 2.24,
    (5, 1): 4.24, (5, 2): 3.16, (5, 3): 2.83, (5, 4): 1.00,
}  # fmt: skip

# Three clusters of shapes: the second is pure, all triangles are in the first.
_CLUSTERS = {
    1: ["triangle"] * 4 + ["circle"] + ["square"],
    2: ["circle"] * 4,
    3: ["square"] * 3 + ["circle"],
}
SHAPE_CLUSTERS = [cluster for cluster, shapes in _CLUSTERS.items() for _ in shapes]
SHAPES = [shape for shapes in _CLUSTERS.values() for shape in shapes]

# A language of two words.
COWPERSON_TEXT = ["Yee Haw", "Haw Yee Yee", "Yee Haw Yee"]
COWPERSON_WORDS = ["Yee", "Haw"]

# Two traffic lights. Columns: north-south red, north-south green, east-west red, east-west
# green. Of 7 days the lights are broken on one, both red; on 3 each of the two is green.
BIASED_LIGHTS = np.array([[1, 0, 1, 0]] + [[0, 1, 1, 0]] * 3 + [[1, 0, 0, 1]] * 3)

# Ratings with gaps: the first matrix has a completion of rank 1, the second has none.
_ = np.nan
POSSIBLE_RATINGS = np.array([[1, 1, _, 2], [1, 1, _, _], [4, _, 8, _], [4, _, _, _]])
IMPOSSIBLE_RATINGS = np.array([[1, 1, _, _], [1, 7, _, _], [4, _, _, 2], [_, 4, _, _]])

# Three vectors of rank two, printed with two digits; the third is then moved.
RANK_TWO_ROWS = np.array([[3.42, -1.33, 6.94], [7.30, 8.84, 1.95], [-7.92, -6.37, -5.66]])
RANK_TWO_BASIS = np.array([[8.0, 8.0, 4.0], [1.0, -4.0, 6.0]])
RANK_TWO_MOVED = np.vstack([RANK_TWO_ROWS[:2], [-6.00, -7.69, -6.86]])

# The generative story of a topic model: ten words in four topics, four topics in three
# documents.
STORY_TOPICS = np.array([
    [0.011, 0.059, 0.226, 0.232, 0.156, 0.047, 0.018, 0.157, 0.048, 0.046],
    [0.152, 0.149, 0.02, 0.065, 0.08, 0.131, 0.008, 0.18, 0.166, 0.049],
    [0.048, 0.049, 0.174, 0.246, 0.006, 0.062, 0.123, 0.157, 0.041, 0.094],
    [0.129, 0.017, 0.059, 0.031, 0.02, 0.223, 0.148, 0.127, 0.114, 0.13],
])  # fmt: skip
STORY_PROPORTIONS = np.array([
    [0.199, 0.492, 0.207, 0.102], [0.362, 0.392, 0.154, 0.091], [0.277, 0.195, 0.108, 0.42],
])  # fmt: skip

SKIP_GRAM_SENTENCE = "the cat sit on the mat"

# Sixteen measurements of 252 men (the data set bodyfat). The percentage of fat is Brozek's.
BODY_COLUMNS = [
    "brozek", "density", "age", "weight", "height", "adiposity", "neck", "chest", "abdomen",
    "hip", "thigh", "knee", "ankle", "biceps", "forearm", "wrist",
]  # fmt: skip
BODY_MEANS = np.array([
    18.9385, 1.0556, 44.8849, 178.9244, 70.1488, 25.4369, 37.9921, 100.8242,
    92.5560, 99.9048, 59.4060, 38.5905, 23.1024, 32.2734, 28.6639, 18.2298,
])  # fmt: skip
BODY_EIGENVALUES = np.array([
    0.0000, 0.2403, 0.6839, 1.0655, 1.4553, 1.6715, 1.9146, 2.3892,
    3.3873, 4.4466, 6.7966, 11.2635, 12.2388, 40.4327, 177.1665, 1139.1,
])  # fmt: skip
