"""The scripts of this folder serve Sphinx and the pictures; they hold no examples to test."""

collect_ignore = [
    "conf.py", "example_notebooks.py", "pictures.py", "reference_pages.py", "screenshots.py",
]  # fmt: skip
