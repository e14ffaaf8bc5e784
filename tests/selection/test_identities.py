"""One quantity has one value: in the record, the explanation, frames, JSON, texts and the page.

All bits are shown with three decimals, and the identities

    unique + shared = I(f; y),    unique + synergy = I(f; y | S),    sum of bits added = I(S; y)

hold to the last of these digits wherever they are shown.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from systems import gates, numbers, season

from pidselect import PIDSelector, write_report

#: Few permutations: which features are selected does not matter here.
SETTINGS = {"n_permutations": 99, "lookahead": 1, "random_state": 0}

VALUES = ("information", "added", "unique", "shared", "synergy")


@dataclass(frozen=True)
class Fitted:
    """A selector, its data and the explanation of the same rows."""

    selector: PIDSelector
    X: Any
    y: Any
    groups: Any
    explanation: Any

    @property
    def record(self):
        return self.selector.selection_

    @property
    def entropy(self):
        """The entropy of a target of classes in bits, else infinite."""
        if self.record.settings.target_types != ("nominal",):
            return math.inf
        shares = np.unique(self.y, return_counts=True)[1] / len(self.y)
        return -float((shares * np.log2(shares)).sum())


def bits():
    X, y = gates(150)
    return X, np.where(y, "yes", "no")


def line():
    return numbers(120)


def classes():
    """Numbers, a noisy copy of one of them, and classes of their sum."""
    rng = np.random.default_rng(2)
    X, y = numbers(150)
    X[:, 3] = X[:, 0] + 0.5 * rng.normal(size=150)
    return X, np.array(["low", "middle", "high"])[np.digitize(y, [-1, 1])]


def mixed():
    columns, y = season(150)
    return pd.DataFrame(columns), y


def with_gaps():
    X, y = numbers(150)
    X[::7, 0] = np.nan
    return X, y


def in_groups():
    X, y = numbers(120)
    return X, y, np.arange(120) % 12


def two_targets():
    X, y = numbers(120)
    return X, np.column_stack([y, X[:, 2] + 0.5 * X[:, 0]])


#: Data and settings of each fit.
CASES = {
    "bits": (bits, {}),
    "numbers": (line, {}),
    "classes": (classes, {}),
    "mixed columns": (mixed, {}),
    "missing values": (with_gaps, {"missing": "category"}),
    "groups of rows": (in_groups, {}),
    "two targets": (two_targets, {}),
    "fixed features": (line, {"fixed_features": ["x3", "x0"]}),
    "feature groups": (line, {"feature_groups": {"sum": ["x0", "x1"], "noise": ["x2", "x3"]}}),
    "all relevant": (classes, {"select": "relevant", "n_permutations": 99}),
    "sequential tests": (line, {"n_permutations": "auto"}),
    "without tests": (line, {"n_permutations": 0, "max_features": 3}),
    "one estimator": (line, {"estimator": "ksg"}),
    "max_features": (line, {"max_features": 1}),
    "some of the rows": (classes, {"max_samples": 100}),
    "by marginal information": (classes, {"criterion": "mi", "backward": None}),
}


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    data, settings = CASES[request.param]
    X, y, *groups = data()
    selector = PIDSelector(**{**SETTINGS, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y, *groups)
    explanation = selector.explain(X, y, *groups)
    assert explanation.in_sample
    assert selector.selection_.features
    return Fitted(selector, X, y, groups, explanation)


def thousandths(value):
    """Return a value as a whole number of 0.001 bit; it must be one."""
    number = round(1000 * value)
    assert value == number / 1000
    return number


def assert_identities(values):
    """The identities of one feature hold to the digit; values are a mapping."""
    if values["information"] is None:  # a duplicate, or skipped
        assert all(values[name] is None for name in VALUES)
        return
    information, added, unique, shared, synergy = (thousandths(values[name]) for name in VALUES)
    assert unique + shared == information
    assert unique + synergy == added
    assert min(unique, shared, synergy) >= 0


# --- the explanation ----------------------------------------------------------------------------


def test_explanation(fitted):
    for feature in fitted.explanation:
        assert_identities(vars(feature))
        assert (feature.unique is None) == (feature.role in ("duplicate", "skipped"))


def test_frame(fitted):
    rows = fitted.explanation.to_frame()
    assert rows["name"].tolist() == [feature.name for feature in fitted.explanation]
    for _, row in rows.iterrows():
        known = {name: None if math.isnan(row[name]) else row[name] for name in VALUES}
        assert_identities(known)
        feature = fitted.explanation[row["name"]]
        assert known == {name: getattr(feature, name) for name in VALUES}


def test_json(fitted):
    found = json.loads(json.dumps(fitted.explanation.to_dict(), allow_nan=False))
    for feature in found["features"]:
        assert_identities(feature)
        own = fitted.explanation[feature["name"]]
        assert all(feature[name] == getattr(own, name) for name in VALUES)
    added = [thousandths(value) for value in found["bits_added"].values()]
    assert sum(added) == thousandths(found["information"])
    assert found["information"] == fitted.explanation.information
    diagonal = np.diag(found["pairs"]["redundancy"]).tolist()
    assert diagonal == [fitted.explanation[name].information for name in found["pairs"]["names"]]


def numbers_in(line):
    """Return the numbers with three decimals in a line of a table, in thousandths."""
    return [int(found.replace(".", "")) for found in re.findall(r"(?<![\d.])\d+\.\d{3}\b", line)]


def test_text(fitted):
    """The columns of the table are added, ..., unique, synergy, shared, information."""
    table = str(fitted.explanation).split("\n\n")[1].splitlines()
    listed = [feature for feature in fitted.explanation if feature.information is not None]
    for feature, line in zip(listed, table[1:], strict=False):
        assert line.startswith(feature.name)
        added, *_, unique, synergy, shared, information = numbers_in(line)
        assert unique + shared == information == thousandths(feature.information)
        assert unique + synergy == added == thousandths(feature.added)
    assert numbers_in(table[-1]) == [thousandths(fitted.explanation.information)]


def test_intervals_contain_their_values(fitted):
    for feature in fitted.explanation:
        assert set(feature.intervals) in (set(), set(VALUES))
        for name, (lower, upper) in feature.intervals.items():
            assert 0 <= lower <= getattr(feature, name) <= upper
            thousandths(lower), thousandths(upper)


def test_bits_are_at_most_the_entropy_of_classes(fitted):
    most = fitted.entropy + 0.0005
    for feature in fitted.explanation:
        if feature.information is not None:
            assert all(0 <= getattr(feature, name) <= most for name in VALUES)
        assert all(upper <= most for _, upper in feature.intervals.values())
    assert 0 <= fitted.explanation.information <= most
    for step in fitted.record.tests:
        assert all(0 <= value <= most for _, value in estimated(step)) or not is_cmi(fitted)
    assert 0 <= sum(fitted.record.bits_added.values()) <= most
    pairs = fitted.explanation.pairs
    assert ((pairs.redundancy >= 0) & (pairs.redundancy <= most)).all()
    assert ((pairs.synergy >= 0) & (pairs.synergy <= most)).all()


def estimated(step):
    """Return the candidates whose information was estimated, with it."""
    found = zip(step.candidates, step.values, strict=True)
    return [(name, value) for name, value in found if not np.isnan(value)]


def is_cmi(fitted):
    return fitted.record.settings.criterion == "cmi"


# --- pairs --------------------------------------------------------------------------------------


def test_pairs(fitted):
    pairs, explanation = fitted.explanation.pairs, fitted.explanation
    own = np.array([explanation[name].information for name in pairs.names])
    np.testing.assert_array_equal(np.diag(pairs.redundancy), own)
    np.testing.assert_array_equal(pairs.redundancy, pairs.redundancy.T)
    np.testing.assert_array_equal(pairs.synergy, pairs.synergy.T)
    assert (pairs.redundancy <= np.minimum.outer(own, own)).all()
    for first, second, redundancy, synergy, _ in pairs.rows():
        i, j = pairs.names.index(first), pairs.names.index(second)
        assert (redundancy, synergy) == (pairs.redundancy[i, j], pairs.synergy[i, j])


# --- the record of the fit ----------------------------------------------------------------------


def test_bits_added_are_those_of_the_record(fitted):
    record, explanation = fitted.record, fitted.explanation
    assert list(explanation.bits_added) == [*record.fixed_features, *record.features]
    rounded = {name: round(value, 3) for name, value in record.bits_added.items()}
    assert dict(explanation.bits_added) == rounded
    added = [thousandths(value) for value in explanation.bits_added.values()]
    assert sum(added) == thousandths(explanation.information)


def test_printed_record(fitted):
    """The bits added that are printed have the sum that is printed, that of the explanation."""
    lines = str(fitted.record).splitlines()
    place = lines[0].index("bits added") + len("bits added")
    members = (*fitted.record.fixed_features, *fitted.record.features)
    added = {line.split()[0]: numbers_in(line[:place]) for line in lines[1:]}
    (total,) = (numbers_in(line) for line in lines if line.startswith("Joint information"))
    assert sum(added[name][0] for name in members) == total[0]
    assert total[0] == thousandths(fitted.explanation.information)


def test_scores_are_the_bits_added_to_the_others(fitted):
    scores = dict(zip(fitted.selector.feature_types_, fitted.selector.scores_, strict=True))
    for feature in fitted.explanation:
        if feature.added is not None and feature.name in scores:
            assert round(scores[feature.name], 3) == feature.added


def test_first_step_has_the_marginal_information(fitted):
    """Also of the marginal tests, if nothing is fixed."""
    for step in fitted.record.tests:
        if not step.conditioning_set and step.phase in ("forward", "marginal"):
            for name, value in estimated(step):
                assert round(value, 3) == fitted.explanation[name].information


def test_last_steps_have_the_bits_added_to_the_others(fitted):
    """Of conditional mutual information, what is not included, and what is retained."""
    members = {*fitted.record.fixed_features, *fitted.record.features}
    for step in fitted.record.steps if is_cmi(fitted) else ():
        if step.phase in ("forward", "backward") and {*step.conditioning_set} == members:
            for name, value in estimated(step):
                assert round(value, 3) == fitted.explanation[name].added


def test_first_feature_adds_its_marginal_information(fitted):
    first = next(iter(fitted.explanation.bits_added))
    assert fitted.explanation.bits_added[first] == fitted.explanation[first].information


def test_last_feature_adds_what_it_adds_to_the_others(fitted):
    """Unless the sum of all has reached the entropy of the target."""
    *_, last = fitted.explanation.bits_added
    if fitted.explanation.information < round(fitted.entropy, 3):
        assert fitted.explanation.bits_added[last] == fitted.explanation[last].added


# --- the report page: the same identities in what it shows --------------------------------------

#: Titles of the columns of the table of all features.
TITLES = {
    "information": "Information",
    "added": "Adds, bits",
    "unique": "Unique",
    "shared": "Shared",
    "synergy": "Synergy",
}


def values_on(page):
    """Return the numbers of the table of all features by row; what is equal in all is said once."""
    (table,) = re.findall(r'<table[^>]* id="roles".*?</table>', page, re.DOTALL)
    caption = re.sub("<[^>]+>", "", table.partition("</caption>")[0]).replace("\xa0", " ")
    rows = re.findall(r'<tr role="row" id="feature-.*?</tr>', table, re.DOTALL)
    for row in rows:
        cells = dict(re.findall(r'data-label="([^"]+)" data-value="[^"]*">([^<]*)', row))
        found = {}
        for name, title in TITLES.items():
            if title not in cells:  # the same in all rows
                (text,) = re.findall(rf"{re.escape(title)} ([\d.–≥ ]+)", caption, re.IGNORECASE)
                cells[title] = text
            text = cells[title].replace("≥", "").split("\xa0")[-1].strip(" .")
            found[name] = None if text == "–" else float(text)
        yield found


def test_page(fitted, tmp_path):
    path = tmp_path / "report.html"
    arguments = {"groups": fitted.groups[0]} if fitted.groups else {}
    write_report(
        fitted.selector, fitted.X, fitted.y, path, explanation=fitted.explanation, **arguments
    )
    page = path.read_text("utf-8")
    for values, feature in zip(values_on(page), fitted.explanation, strict=True):
        assert_identities(values)
        assert values == {name: getattr(feature, name) for name in VALUES}
    joint = f"{fitted.explanation.information:.3f}"
    assert f"{joint}\xa0bit" in page
