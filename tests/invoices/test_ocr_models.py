"""What saves an OCR's time changes nothing that it says: fewer characters, narrower lines, one search for them."""

import pytest

from docrail.invoices.readers.ocr import read as ocr

pytestmark = pytest.mark.skipif(not ocr.installed(), reason="needs the extra `ocr`")

if ocr.installed():
    import numpy as np
    import onnxruntime

    from docrail.invoices.readers.ocr.model_head import known_characters, trimmed_weights
    from docrail.invoices.readers.ocr.models import RECOGNITION, STRETCH, Letter, Line, Print, model_file, stretch_for


def session(model: bytes, weights: "dict[str, onnxruntime.OrtValue]") -> "onnxruntime.InferenceSession":
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for name, values in weights.items():
        options.add_initializer(name, values)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def test_a_model_reduced_to_some_characters_distinguishes_them_as_before() -> None:
    model = model_file(RECOGNITION)
    known = known_characters(model)
    wanted = [code for code, text in enumerate(known) if text < "\u0250"]
    assert (known[0], known[-1], len(known) > 10_000) == ("", " ", True)
    weights = trimmed_weights(model, len(known), wanted)
    held = {name: onnxruntime.OrtValue.ortvalue_from_numpy(values) for name, values in weights.items()}
    picture = {"x": np.random.default_rng(7).random((1, 3, 48, 160), np.float32)}
    whole, cut = (session(model, own).run(None, picture)[0][0] for own in ({}, held))
    assert (whole.shape[1], cut.shape[1]) == (len(known), len(wanted))
    before = whole[:, wanted] / whole[:, wanted].sum(axis=1, keepdims=True)
    assert np.allclose(cut, before, atol=1e-4)


def line(width: int, top: int = 0) -> "Line":
    """Return a line as high as the model reads it."""
    return Line(0, top, width, top + 48, 0.0, width / 48)


@pytest.mark.parametrize(
    ("lines", "letters", "narrowed"),
    [(20, 40, False), (200, 25, True), (200, 70, False), (200, 0, False)],
    ids=["few lines", "many with wide letters", "many with narrow letters", "nothing read"],
)
def test_many_lines_of_wide_letters_are_narrowed(lines: int, letters: int, narrowed: bool) -> None:
    page = [line(600, 60 * number) for number in range(lines)]
    sample = {one: [Letter("a", 0.5, 0.9)] * letters for one in page[:8]}
    assert (stretch_for(page, sample) < STRETCH) is narrowed


def test_letters_are_not_narrowed_beyond_what_can_be_read() -> None:
    page = [line(600, 60 * number) for number in range(1_000)]
    sample = {one: [Letter("a", 0.5, 0.9)] * 33 for one in page[:8]}
    assert stretch_for(page, sample) * 600 / 33 == pytest.approx(12.5)


def test_print_is_found_where_the_picture_was_moved_to() -> None:
    core = np.zeros((64, 96), np.float32)
    core[20:26, 10:60] = 0.9
    seen = Print(core, (192, 128))
    shift = np.array([[1, 0, 8], [0, 1, 12], [0, 0, 1]], float)
    (before,), (after,) = seen.lines(), seen.moved(shift, seen.size).lines()
    assert (after.left - before.left, after.top - before.top) == (8, 12)
    assert (after.width, after.height) == (before.width, before.height)
