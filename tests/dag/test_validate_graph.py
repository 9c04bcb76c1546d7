"""Dependencies: unknown, repeated, circular, and rules that need them."""

import pytest

from tests.dag.catalogue import EXTRACT, Problems, change, problems_of


def steps(**depends_on: str) -> str:
    """Return a definition with these steps, each given by what it depends on."""
    lines = (
        f"  - {{id: {name}, handler: anything, depends_on: [{parents}]}}\n" for name, parents in depends_on.items()
    )
    return "id: invoice\nsteps:\n" + "".join(lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            change("[extract]", "[extrct]"),
            [
                (
                    "8:18 unknown-step steps[1].depends_on[0]",
                    "step 'save_json' depends on 'extrct', which is not a step",
                    "extract",
                ),
            ],
            id="unknown-dependency",
        ),
        pytest.param(
            change("[extract]", "[payment, extract]"),
            [
                (
                    "8:18 unknown-step steps[1].depends_on[0]",
                    "step 'save_json' depends on 'payment', which is not a step",
                ),
            ],
            id="unknown-dependency-like-nothing",
        ),
        pytest.param(
            change("[extract]", "[extract, extract]"),
            [
                ("8:27 duplicate-dependency steps[1].depends_on[1]", "step 'save_json' depends on 'extract' twice"),
            ],
            id="dependency-named-twice",
        ),
        pytest.param(
            change("[extract]", "[extract, save_json]"),
            [
                ("8:27 self-dependency steps[1].depends_on[1]", "step 'save_json' depends on itself"),
            ],
            id="step-that-depends-on-itself",
        ),
        pytest.param(
            change("    handler: extract_invoice", "    depends_on: [save_json]\n    handler: extract_invoice"),
            [
                ("4:18 cycle steps[0].depends_on[0]", "these steps wait for each other: extract → save_json → extract"),
            ],
            id="cycle-of-two",
        ),
        pytest.param(
            steps(a="b, c", b="a", c="b"),
            [
                ("3:45 cycle steps[0].depends_on[0]", "these steps wait for each other: a → b → a"),
                ("3:48 cycle steps[0].depends_on[1]", "these steps wait for each other: a → b → c → a"),
            ],
            id="two-cycles-that-share-a-step",
        ),
        pytest.param(
            steps(a="b", b="a", c="a, d", d="c"),
            [
                ("3:45 cycle steps[0].depends_on[0]", "these steps wait for each other: a → b → a"),
                ("5:48 cycle steps[2].depends_on[1]", "these steps wait for each other: c → d → c"),
            ],
            id="two-separate-cycles",
        ),
        pytest.param(
            steps(**{f"s{number}": f"s{(number - 1) % 30}" for number in range(30)}),
            [
                (
                    "3:46 cycle steps[0].depends_on[0]",
                    (
                        "these steps wait for each other: s0 → s1 → s2 → s3 → s4 → s5 → s6 → s7 → s8 → s9 → … 20 "
                        "more … → s0"
                    ),
                ),
            ],
            id="long-cycle-is-shortened",
        ),
        pytest.param(
            EXTRACT + "    trigger_rule: one_failed\n",
            [
                (
                    "6:19 rule-needs-parents steps[0].trigger_rule",
                    "step 'extract' would never run: 'one_failed' needs parents, and it has none",
                ),
            ],
            id="rule-about-parents-without-parents",
        ),
        pytest.param(
            change("depends_on: [extract]", "dependencies: [extract]").replace(
                "    handler: extract_invoice", "    dependencies: [save_json]\n    handler: extract_invoice"
            ),
            [
                (
                    "4:20 cycle steps[0].dependencies[0]",
                    "these steps wait for each other: extract → save_json → extract",
                ),
            ],
            id="cycle-through-an-alias",
        ),
    ],
)
def test_a_wrong_dependency_is_reported_with_its_place(text: str, expected: Problems) -> None:
    assert problems_of(text) == expected
