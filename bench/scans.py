"""Make scans of a labelled folder's PDFs, grey and noisy pictures, to fit a calibration for OCR.

    python -m bench.scans FOLDER INTO
    docrail calibration fit --labelled FOLDER --labelled INTO

Each scan keeps its document's family, so that fits that leave a family out leave out its scans as well.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image, ImageChops, ImageFilter

DPI = 150
MOST_PAGES = 3
POINTS_PER_INCH = 72
NOISE = 24
"""Standard deviation of a bad scanner's noise, of 255 grey levels."""
MOST_TILT = 0.7
"""Largest tilt of the paper in degrees."""
JPEG_QUALITY = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("into", type=Path)
    given = parser.parse_args()
    print(f"{make_scans(given.folder, given.into)} scans in {given.into}")


def make_scans(folder: Path, into: Path) -> int:
    """Write scans of the labelled PDFs with few pages, and a manifest with the same labels; return their number."""
    entries = json.loads((folder / "MANIFEST.json").read_text("utf-8"))["files"]
    made = [_scan(folder, entry, into) for entry in entries if entry["file"].endswith(".pdf")]
    scans = [entry for entry in made if entry is not None]
    (into / "MANIFEST.json").write_text(json.dumps({"files": scans}, indent=1), "utf-8")
    return len(scans)


def _scan(folder: Path, entry: dict[str, Any], into: Path) -> dict[str, Any] | None:
    document = pypdfium2.PdfDocument(folder / entry["file"])
    if len(document) > MOST_PAGES:
        return None
    chance = random.Random(entry["file"])  # makes the same scan each time
    pages = [_noisy(page.render(scale=DPI / POINTS_PER_INCH).to_pil(), chance) for page in document]
    target = into / entry["file"]
    target.parent.mkdir(parents=True, exist_ok=True)
    pages[0].save(target, save_all=True, append_images=pages[1:], resolution=DPI, quality=JPEG_QUALITY)
    return entry | {"kind": "pdf_scan"}


def _noisy(page: Image.Image, chance: random.Random) -> Image.Image:
    grey = page.convert("L")
    tilted = grey.rotate(chance.uniform(-MOST_TILT, MOST_TILT), Image.Resampling.BICUBIC, fillcolor=255)
    blurred = tilted.filter(ImageFilter.GaussianBlur(chance.uniform(0, 0.8)))
    return ImageChops.add(blurred, _grain(grey.size, chance.uniform(0, NOISE), chance.getrandbits(32)), offset=-128)


def _grain(size: tuple[int, int], deviation: float, seed: int) -> Image.Image:
    """Return noise around a middle grey, as `Image.effect_noise` does, but the same for the same seed."""
    width, height = size
    drawn = np.random.default_rng(seed).normal(128, deviation, (height, width))
    return Image.fromarray(drawn.clip(0, 255).astype(np.uint8))


if __name__ == "__main__":
    main()
