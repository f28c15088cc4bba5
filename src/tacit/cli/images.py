"""``tacit images FOLDER``: the principal components of a set of images."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import options, output
from tacit.cli.options import RunOptions

if TYPE_CHECKING:
    import numpy as np

    from tacit.data.images import Images

__all__ = ["images"]

SAMPLES = 6  # images that are reconstructed


@options.command()
@click.argument("source", metavar="FOLDER|NPZ")
@click.option("--ranks", type=options.NUMBERS, default="16,64,128",
              help="Numbers of components to compare")
@click.option("--near", metavar="IMAGE",
              help="Image whose nearest images are shown: a name, or a number from 1  "
              "[default: none]")
@click.option("--combine", metavar="SUM",
              help='Sum of images, such as "0.5*3 + 0.5*17", written to combination.png  '
              "[default: none]")
@click.option("--size", type=options.IMAGE_SIZE,
              help="Size to scale all images of a folder to  [default: as they are]")
@options.follow_links_option
@click.option("--out", metavar="FOLDER", help="Folder for pictures, coordinates and the model  "
              "[default: none]")
@options.top_option(5)
@options.run_options
def images(
    source: str, ranks: tuple[int, ...], near: str | None, combine: str | None,
    size: tuple[int, int] | None, follow_links: bool, out: str | None, top: int,
    run: RunOptions,
) -> None:  # fmt: skip
    """Find the principal components of images.

    Reads a folder of images (subfolders are labels), or a stack of images in a .npz or .npy
    file. Prints the error of reconstructions from few components and, with labels, how often
    the nearest other image has the same label. --out writes contact sheets of the components
    and of reconstructions, the error curve, coordinates and the model.

    \b
    tacit images faces/ --out faces-out
    tacit images faces.npz --ranks 8,32,128 --near 17
    tacit images faces.npz --combine "0.5*3 + 0.5*17" --out mixed
    """
    if combine is not None and out is None:
        raise click.UsageError("--combine needs a folder for the image: add --out FOLDER.")
    if near is None:
        options.refuse_options(["top"], "is the number of nearest images: add --near IMAGE.")
    if not Path(source).is_dir():
        why = f"is for a folder of images, and {source} is not one."
        options.refuse_options(["size", "follow_links"], why)
    folder = None if out is None else make_folder(out)
    import numpy as np

    from tacit.core.wording import count, listed
    from tacit.data.images import read_images
    from tacit.decompose import PCA

    stack = read_images(source, size=size, follow_links=follow_links)
    if stack.skipped:
        links = count(len(stack.skipped), "symbolic link")
        output.note(
            f"Skipped {links} leading outside the folder ({listed(stack.skipped)}). "
            "--follow-links reads them."
        )
    n, pixels = stack.rows.shape
    height, width = stack.size
    if not run.as_json:
        output.note(f"Read {n:,} images of {width} x {height} pixels from {stack.source}.")
    if n < 2:
        raise click.ClickException(
            f"{source} has one image, but components need at least two. Add images."
        )
    most = min(n - 1, pixels)
    tried = sorted({min(rank, most) for rank in ranks})
    if max(ranks) > most:
        output.note(f"{n:,} images have at most {most:,} components; the ranks are {tried}.")
    index = None if near is None else stack.find(near)
    mixed = None if combine is None else stack.combine(combine)
    model = PCA(tried[-1], random_state=run.seed, engine=run.engine).fit(stack.rows)
    points = np.asarray(model.transform(stack.rows), np.float64)
    errors = model.reconstruction_errors(stack.rows, relative=True)
    answer: dict[str, Any] = {
        "source": stack.source, "images": n, "height": height, "width": width,
        "ranks": {str(rank): {"lost": float(errors[rank])} for rank in tried},
    }  # fmt: skip
    if stack.labels is not None:
        for rank in tried:
            accuracy = nearest_neighbor_accuracy(points[:, :rank], stack.labels)
            answer["ranks"][str(rank)]["recognized"] = accuracy
    nearest = [] if index is None else neighbors(points, index, top)
    if index is not None:
        answer["near"] = [{"image": stack.names[i], "distance": d} for i, d in nearest]
    if folder is not None:
        answer["files"] = write_results(
            folder, stack, model, points, errors, tried, index, nearest, mixed
        )
    if run.as_json:
        output.print_json(answer)
    else:
        draw(answer, near)


def make_folder(out: str) -> Path:
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"--out {out} is a file, but a folder is needed.")
    output.need_matplotlib("--out")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def neighbors(points: "np.ndarray", index: int, top: int) -> list[tuple[int, float]]:
    """The nearest other images and their distances; ties go to the first."""
    import numpy as np

    distances = np.sqrt(((points - points[index]) ** 2).sum(axis=1))
    order = [int(i) for i in np.argsort(distances, kind="stable") if i != index]
    return [(i, float(distances[i])) for i in order[:top]]


def nearest_neighbor_accuracy(points: "np.ndarray", labels: "np.ndarray") -> float:
    """The fraction of images whose nearest other image has the same label."""
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=1).fit(points).kneighbors(return_distance=False)
    return float((labels[nearest[:, 0]] == labels).mean())


def write_results(
    folder: Path, stack: "Images", model: Any, points: "np.ndarray", errors: "np.ndarray",
    ranks: list[int], index: int | None, near: list[tuple[int, float]], mixed: Any,
) -> list[str]:  # fmt: skip
    """Write contact sheets, the curve, the coordinates and the model; return their names."""
    import numpy as np

    from tacit import plot
    from tacit.plot.image_picture import as_gray

    written = []

    def save(ax: Any, name: str) -> None:
        import matplotlib.pyplot as plt

        output.save_figure(ax.figure, str(folder / name))
        plt.close(ax.figure)
        written.append(name)

    shown = model.components_[:15]  # on the contact sheet, after the mean
    mean = stack.pictures(model.mean_)
    scaled = np.concatenate([
        as_gray(mean, "each"),
        as_gray(stack.pictures(shown), "signed"),
    ])  # fmt: skip
    ratios = model.explained_variance_ratio_[: len(shown)]
    captions = ["mean", *(f"{j}: {ratio:.1%}" for j, ratio in enumerate(ratios, 1))]
    sheet = plot.contact_sheet(scaled, captions=captions, columns=4, scale="shared")
    save(sheet, "components.png")
    picked = np.linspace(0, len(stack) - 1, min(SAMPLES, len(stack))).round().astype(np.int64)
    rows, captions = [stack.rows[picked]], [stack.names[i] for i in picked]
    for rank in ranks:
        truncated = points[picked].copy()
        truncated[:, rank:] = 0
        rows.append(model.inverse_transform(truncated))
        captions += [f"rank {rank}"] * len(picked)
    pictures = stack.pictures(np.concatenate(rows))
    sheet = plot.contact_sheet(pictures, captions=captions, columns=len(picked))
    save(sheet, "reconstructions.png")
    save(plot.rank_error(errors, marks=ranks), "error.png")
    if index is not None:
        pictures = stack.pixels[[index, *(i for i, _ in near)]]
        captions = [stack.names[index], *(f"{stack.names[i]}: {d:.3g}" for i, d in near)]
        save(plot.contact_sheet(pictures, captions=captions), "neighbors.png")
    if mixed is not None:
        save(plot.contact_sheet(mixed[None]), "combination.png")
    model.save(folder / "model.safetensors")
    table = str(folder / "coordinates.csv")
    output.write_numbers(table, ("image", stack.names), "c", points, first=1, digits=8)
    return [*written, "coordinates.csv", "model.safetensors"]


def draw(answer: dict[str, Any], near: str | None) -> None:
    rows = [
        [rank, *(f"{value:.1%}" for value in figures.values())]
        for rank, figures in answer["ranks"].items()
    ]
    titles = ["Components", "Error", "Nearest has the same label"][: len(rows[0])]
    output.draw_table(titles, rows, right=range(len(titles)))
    if near is not None:
        click.echo(f"Nearest to {near}:")
        output.draw_table(
            ["Image", "Distance"],
            [[each["image"], f"{each['distance']:.4g}"] for each in answer["near"]],
            right=[1],
        )
    if "files" in answer:
        output.say(f"Written: {', '.join(answer['files'])}.")
