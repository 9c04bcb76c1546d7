"""Fit the weights of the vendor's name (readers/parties/vendor.py) to the invented invoices, and print them.

The candidates of a document compete: the weights make the right ones most probable (a conditional logit model), with a
penalty on large weights. For each set it also prints how many names are right with the weights that fit all the others:
what to expect of new layouts, but for rules that were written with the set in view.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.extraction import INVENTED_FOLDER, UNSEEN_FOLDER, load_truths
from bench.extraction_scores import Truth
from docrail.invoices.features import Feature
from docrail.invoices.kinds import NAME
from docrail.invoices.readers.layout.labels import Finder
from docrail.invoices.readers.layout.page import lay_out
from docrail.invoices.readers.parties.blocks import buyer_cells
from docrail.invoices.readers.parties.candidates import vendor_names
from docrail.invoices.readers.parties.vendor import VENDOR_NAME, Among
from docrail.invoices.readers.pdf.pages import PdfPages
from docrail.invoices.readers.pdf.words import read_pages

STEPS, RATE = 6000, 0.3
"""Steps of the ascent, and their length: the penalised likelihood no longer rises by then."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """The candidates of one document."""

    file: str
    features: Array
    """A row for each candidate, a column for each feature."""
    right: NDArray[np.bool_]

    @property
    def set_name(self) -> str:
        """The folder of the document."""
        return str(Path(self.file).parent)


def choice_of(folder: Path, truth: Truth) -> Choice | None:
    """Return the candidates of a PDF's text; None if the right name is not among them."""
    with PdfPages((folder / truth.file).read_bytes()) as pdf:
        finder = Finder(lay_out(read_pages(pdf)))
    every = vendor_names(finder, buyer_cells(finder))
    rows = [[float(feature.applies(Among(finder, each, every))) for feature in VENDOR_NAME] for each in every]
    right = np.array([NAME.is_right(each.name, truth.expected["vendor_name"]) for each in every], dtype=bool)
    return Choice(truth.file, np.array(rows), right) if right.any() else None


def choices_in(folder: Path) -> list[Choice]:
    """Return the choices of a folder's PDFs."""
    truths = [truth for truth in load_truths(folder) if truth.kind == "pdf_text" and "vendor_name" in truth.expected]
    with Pool() as pool:
        return [each for each in pool.starmap(choice_of, [(folder, truth) for truth in truths]) if each is not None]


def fit(choices: Sequence[Choice], penalty: float) -> Array:
    """Return the weights of the features."""
    rows, right = np.concatenate([each.features for each in choices]), np.concatenate([each.right for each in choices])
    sizes = [len(each.right) for each in choices]
    starts, document = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(sizes)), sizes)
    spread = np.where(rows.std(0) == 0, 1, rows.std(0))
    scaled, weights = rows / spread, np.zeros(rows.shape[1])
    for _ in range(STEPS):
        scores = scaled @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[document])
        chosen = odds / np.add.reduceat(odds, starts)[document]
        wanted = odds * right / np.add.reduceat(odds * right, starts)[document]
        weights += RATE / len(sizes) * ((wanted - chosen) @ scaled - penalty * weights)
    return np.asarray(weights / spread)


def wrong_in(choices: Sequence[Choice], weights: Array) -> list[str]:
    """Return the files whose name is wrong."""
    return [each.file for each in choices if not each.right[np.argmax(each.features @ weights)]]


def shipped() -> Array:
    """Return the weights as they are."""
    return np.array([feature.weight for feature in VENDOR_NAME])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--penalty", type=float, default=2.5, help="penalty on the squares of the weights")
    penalty = parser.parse_args().penalty
    known, unseen = choices_in(INVENTED_FOLDER), choices_in(UNSEEN_FOLDER)
    weights = fit(known, penalty)
    for feature, weight in zip(VENDOR_NAME, weights, strict=True):
        print(f"{weight:6.2f} {_now(feature)} {feature.name}")
    print(f"{len(known)} invented: wrong with these weights {wrong_in(known, weights)}, as shipped", end=" ")
    print(wrong_in(known, shipped()))
    print(f"{len(unseen)} unseen: wrong with these weights {wrong_in(unseen, weights)}")
    left_out: list[str] = []
    for name in sorted({each.set_name for each in known}):
        others = fit([each for each in known if each.set_name != name], penalty)
        left_out += wrong_in([each for each in known if each.set_name == name], others)
    print(f"wrong with the weights that fit the other sets: {len(left_out)} {left_out}")


def _now(feature: Feature[Among]) -> str:
    return f"(now {feature.weight:5.2f})"


if __name__ == "__main__":
    main()
