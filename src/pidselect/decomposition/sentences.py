"""One sentence for each feature: what it adds, how, and why it is selected or not."""

from __future__ import annotations

from pidselect.data.messages import number, shown
from pidselect.decomposition.explanation import Explanation, FeatureExplanation


def sentence(feature: FeatureExplanation, explanation: Explanation) -> str:
    """Return the role of a feature and its numbers as one sentence."""
    return f"{shown(feature.name)} adds {number(feature.added)} bits."
