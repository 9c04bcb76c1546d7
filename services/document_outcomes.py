"""How documents end, and bounds of their histograms. Apart from `metrics`: commands load this without Prometheus."""

from typing import Literal

Outcome = Literal["success", "failed"]

SECONDS_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400)
"""Upper bounds: from a fast pipeline to a backlog of a day, which is the usual SLA."""

CONFIDENCE_BUCKETS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Upper bounds: finest where it is decided whether a person must look."""
