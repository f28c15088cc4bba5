"""What the package as a whole promises: light imports, one direction, honest exports."""

import ast
import importlib
import inspect
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import tacit

SOURCE = Path(tacit.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
HEAVY = ["numba", "numpy", "pyarrow", "scipy", "sklearn"]
MOST_LINES = 600  # a longer file says why in its docstring

# Packages from the lowest to the highest: each imports itself and those before it.
ORDER = [
    "_version", "core", "kernels", "data", "text", "measure", "decompose", "cluster", "linear",
    "classify", "search", "language", "mixture", "topics", "words", "recommend", "style",
    "neural", "plot", "datasets", "explore", "cli", "__main__",
]  # fmt: skip
# Methods that engines, blocks and callbacks have by protocol.
PROTOCOL = {"each", "load", "map", "on_step", "reduce", "start", "stop"}


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def layer_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "tacit"


MODULES = {name_of(path): path for path in FILES}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path: Path) -> set[str]:
    """Modules of this package that a file imports, wherever it does so, but for the lazy names
    of a package."""
    found = set()
    body = tree_of(path).body
    if path.name == "__init__.py":
        body = [node for node in body if not isinstance(node, ast.If)]
    for node in (each for part in body for each in ast.walk(part)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "tacit"}


def exports_of(path: Path) -> list[str] | None:
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return None


def has_code(path: Path) -> bool:
    body = tree_of(path).body
    return any(not isinstance(node, ast.Expr) for node in body)


# Modules with an underscore promise nothing; __main__ is __main__.
PROMISING = [
    name
    for name, path in MODULES.items()
    if has_code(path) and not name.rpartition(".")[2].startswith("_")
]


# --- Weight ---


def loaded_after(code: str) -> list[str]:
    """The heavy packages that a fresh interpreter has loaded after running this."""
    report = f"import json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout.splitlines()[-1])


def test_importing_tacit_loads_nothing_heavy():
    assert loaded_after("import tacit") == []


def test_help_loads_nothing_heavy():
    code = """
from tacit.cli.main import COMMANDS, main
assert main(["--help"]) == 0
assert main(["--version"]) == 0
for command in COMMANDS:
    assert main([command, "--help"]) == 0, command
"""
    assert loaded_after(code) == []


def test_the_check_for_heavy_packages_can_fail():
    assert "numpy" in loaded_after("import tacit; tacit.data.Table")


def test_every_subpackage_loads_when_its_name_is_used():
    code = """
import tacit
for name in tacit.__all__:
    assert getattr(tacit, name) is not None
    assert name in ("__version__", "load") or getattr(tacit, name).__name__ == f"tacit.{name}"
"""
    assert loaded_after(f"{code}\nassert dir(tacit) == sorted(tacit.__all__)") != []


# --- Types ---


def test_the_public_names_are_the_subpackages_and_two_functions():
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    hidden = {"cli", "core", "kernels", "linear"}  # linear is public as tacit.classify
    assert {*dir(tacit)} == (rooms - hidden) | {"load", "__version__"}
    assert "tacit.explore(" in tacit.__doc__[:150]


def test_the_package_that_explores_has_the_signature_of_what_it_calls():
    from tacit.explore import explore_documents

    assert inspect.signature(tacit.explore) == inspect.signature(explore_documents)


@pytest.mark.slow
def test_type_checkers_see_the_real_types(tmp_path):
    script = tmp_path / f"script_{os.getpid()}.py"  # mypy caches what it says about a module
    script.write_text(
        """import tacit
from tacit.cluster import KMeans
from tacit.explore import Project
reveal_type(KMeans(3))
reveal_type(tacit.topics.GibbsLDA(3))
reveal_type(KMeans(3).fit([[1.0]]))
KMeans(3, n_int=4)
project: Project = tacit.explore("letters", effort="quick")
tacit.explore("letters", efort="quick")
tacit.cluster.KMeens
reveal_type(project.search("whale"))
"""
    )
    # In the folder of the project, with its settings: `make lint` has filled the cache.
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", str(script)],
        capture_output=True, text=True, cwd=SOURCE.parents[1], check=False,
        env={**os.environ, "MYPYPATH": str(SOURCE.parent)},
    )  # fmt: skip
    said = [line.removeprefix(f"{script}:") for line in run.stdout.splitlines()]
    assert [line for line in said if "defined in" not in line] == [
        '4: note: Revealed type is "tacit.cluster.kmeans.KMeans"',
        '5: note: Revealed type is "tacit.topics.lda_gibbs.GibbsLDA"',
        '6: note: Revealed type is "tacit.cluster.kmeans.KMeans"',
        '7: error: Unexpected keyword argument "n_int" for "KMeans"; did you mean "n_init"?  '
        "[call-arg]",
        '9: error: Unexpected keyword argument "efort" for "explore_documents"; did you mean '
        '"effort"?  [call-arg]',
        '10: error: Module has no attribute "KMeens"; maybe "KMeans"?  [attr-defined]',
        '11: note: Revealed type is "tacit.search.results.Hits"',
    ]


# --- Order ---


def allowed(importer: str, imported: str) -> bool:
    who, whom = layer_of(importer), layer_of(imported)
    if importer == "tacit":
        return whom in ("_version", "core")
    if whom not in ORDER:  # tacit itself, or a name it exports
        return who in ("explore", "cli")
    return who == whom or ORDER.index(whom) < ORDER.index(who)


@pytest.mark.parametrize("module", MODULES)
def test_packages_form_a_dag(module):
    wrong = {name for name in imports_of(MODULES[module]) if not allowed(module, name)}
    assert not wrong


def test_the_rule_for_imports_can_fail():
    assert not allowed("tacit.core.stats", "tacit.data.table")
    assert not allowed("tacit.data.table", "tacit.cluster.kmeans")
    assert not allowed("tacit.measure.gap", "tacit.cluster.kmeans")
    assert not allowed("tacit.cluster.kmeans", "tacit.cli.main")
    assert not allowed("tacit.explore.project", "tacit.cli.main")
    assert allowed("tacit.cli.cluster", "tacit.cluster.kmeans")
    assert allowed("tacit.mixture.gaussian", "tacit.cluster.kmeans")


@pytest.mark.parametrize("module", MODULES)
def test_files_stay_small(module):
    lines = len(MODULES[module].read_text(encoding="utf-8").splitlines())
    why = ast.get_docstring(tree_of(MODULES[module])) or ""
    assert lines <= MOST_LINES or "One file: " in why


# --- Names ---


@pytest.mark.parametrize("module", PROMISING)
def test_a_module_says_what_it_exports_and_has_it(module):
    names = exports_of(MODULES[module])
    assert names is not None, f"{module} has no __all__"
    assert len({*names}) == len(names)
    loaded = importlib.import_module(module)
    missing = [name for name in names if not hasattr(loaded, name)]
    assert not missing
    assert not [name for name in names if name.startswith("_") and name != "__version__"]


@pytest.mark.parametrize("module", MODULES)
def test_what_is_exported_is_explained(module):
    """Functions and classes in __all__ have a docstring, and so do the methods of classes."""
    names = exports_of(MODULES[module]) or []
    silent = []
    for node in tree_of(MODULES[module]).body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name not in names:
            continue
        if not ast.get_docstring(node):
            silent.append(node.name)
        elif isinstance(node, ast.ClassDef):
            silent += [f"{node.name}.{method}" for method in unexplained(node)]
    assert not silent


def unexplained(node: ast.ClassDef) -> list[str]:
    """Public methods without a docstring. Those of a base class or protocol are explained
    there."""
    if node.bases:
        return []
    return [
        method.name
        for method in node.body
        if isinstance(method, ast.FunctionDef)
        and not method.name.startswith("_")
        and method.name not in PROTOCOL
        and not ast.get_docstring(method)
    ]


@pytest.mark.parametrize("module", PROMISING)
def test_every_module_says_what_it_is_for(module):
    assert ast.get_docstring(tree_of(MODULES[module]))


# --- The public names that other code relies on ---

PUBLIC = {
    "tacit": "explore load",
    "tacit.core.engines": "Serial Threads Dask",
    "tacit.data": "Table Documents Ratings",
    "tacit.text": "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer "
    "TextFeatures tokenize levenshtein tree_edit_distance pairwise_strings",
    "tacit.search": "InvertedIndex SemanticIndex",
    "tacit.cluster": "KMeans MiniBatchKMeans SphericalKMeans FuzzyCMeans KMedoids "
    "AgglomerativeClustering DivisiveClustering linkage cut to_newick choose_k "
    "stability describe",
    "tacit.mixture": "MultivariateNormal GaussianMixture MultinomialMixture BernoulliMixture "
    "SemiSupervisedNB MultiComponentNB WordSenses",
    "tacit.decompose": "PCA ProbabilisticPCA TruncatedSVD Whitener Affine ClassicalMDS MDS "
    "dimension",
    "tacit.classify": "MultinomialNB BernoulliNB ComplementNB Perceptron "
    "PassiveAggressiveClassifier LinearSVC LogisticRegression LexiconClassifier explain",
    "tacit.topics": "GibbsLDA LatentDirichletAllocation coherence choose_topics",
    "tacit.words": "Word2Vec WordVectors PPMIVectors",
    "tacit.language": "NGramModel ClassModel BrownClusters SpellingCorrector read_arpa "
    "write_arpa",
    "tacit.recommend": "ALS ImplicitALS BiasedSGD AttributeRecommender complete",
    "tacit.neural": "RBM Autoencoder GAN",
    "tacit.style": "Authorship FunctionWords delta rolling",
    "tacit.measure": "silhouette_score silhouette_samples davies_bouldin_score dunn_score "
    "gap_statistic scatter homogeneity_completeness_v_measure adjusted_rand_score entropy "
    "kl_divergence perplexity rmse ndcg mcnemar",
}
# First arguments that may be given by place; all others by name alone.
SIGNATURES = {
    "tacit.cluster.KMeans": "n_clusters=8 *, init n_init max_iter tol random_state engine",
    "tacit.cluster.KMedoids": "n_clusters=8 *, metric random_state",
    "tacit.mixture.SemiSupervisedNB": "alpha=1.0 *, unlabeled_weight",
    "tacit.topics.GibbsLDA": "n_components=20 *, max_iter alpha eta random_state engine",
    "tacit.words.Word2Vec": "vector_size=100 *, window min_count sg negative epochs "
    "random_state updates",
    "tacit.language.NGramModel": "order=3 *, smoothing vocabulary unk_cutoff",
    "tacit.recommend.BiasedSGD": "n_factors=32 *, n_epochs random_state",
    "tacit.style.Authorship": "words=None *, block",
    "tacit.neural.Autoencoder": "layers=(64, 16) *, activation tied noise l1 random_state",
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_there(module):
    if module == "tacit.neural":
        pytest.importorskip("jax")
        pytest.importorskip("optax")
    loaded = importlib.import_module(module)
    for name in PUBLIC[module].split():
        assert getattr(loaded, name) is not None
        assert name in dir(loaded)


@pytest.mark.parametrize("path", SIGNATURES)
def test_signatures_that_others_rely_on(path):
    module, _, name = path.rpartition(".")
    if module == "tacit.neural":
        pytest.importorskip("jax")
        pytest.importorskip("optax")
    first, *named = inspect.signature(
        getattr(importlib.import_module(module), name)
    ).parameters.values()
    given, _, wanted = SIGNATURES[path].partition(" *, ")
    assert f"{first.name}={first.default!r}" == given
    assert {each.kind for each in named} == {inspect.Parameter.KEYWORD_ONLY}
    assert {*wanted.split()} <= {each.name for each in named}
