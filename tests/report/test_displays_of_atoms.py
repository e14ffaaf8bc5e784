"""Bars, lattices, matrices and frequencies: lengths, colours and texts agree with the numbers."""

import made_up_results
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from pidselect import PIDSelector, datasets, decompose
from pidselect.decomposition.lattice import lattice
from pidselect.report.displays import (
    AtomBarsDisplay,
    ImportanceDisplay,
    LatticeDisplay,
    StabilityDisplay,
)
from pidselect.report.displays.bars import PALE, PARTS
from pidselect.report.displays.lattice import layout
from pidselect.selection.stability import Stability


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def rows(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


# ------------------------------------------------------------------------------------------ bars


def test_bars_are_as_long_as_the_parts_and_negative_ones_go_left():
    record = made_up_results.explanation(4)
    record["features"][1]["shared"] = -0.1
    display = AtomBarsDisplay.from_dict(record).plot()
    ends = {
        (round(bar.get_y() + 0.36), to_rgb(bar.get_facecolor())): (bar.get_x(), bar.get_width())
        for bar in display.ax_.patches
    }
    colours = {name: to_rgb(colour) for name, (colour, _) in PARTS.items()}
    assert ends[0, colours["unique"]] == (0.0, 0.5)
    assert ends[0, colours["shared"]] == (0.5, 0.25)
    assert ends[0, colours["synergy"]] == (0.75, 0.125)
    assert ends[1, colours["shared"]] == (0.0, -0.1)
    assert ends[1, colours["synergy"]] == (0.25, 0.125)


def test_roles_stand_beside_and_what_is_not_estimable_is_a_dash():
    display = AtomBarsDisplay.from_dict(made_up_results.explanation(4)).plot()
    assert rows(display) == made_up_results.names_of(4)
    assert texts(display).count("–") == 1
    assert texts(display).count("strongly relevant") == 2
    assert "feature_3 (irrelevant): not estimable." in display.describe()


@pytest.mark.parametrize(("most", "more"), [(30, 270), (2, 298)])
def test_of_many_features_the_first_are_drawn(most, more):
    record = made_up_results.explanation(300)
    display = AtomBarsDisplay.from_dict(record, max_features=most).plot()
    assert rows(display) == made_up_results.names_of(300)[:most]
    assert f"and {more} more" in texts(display)
    assert display.describe().endswith(f"And {300 - min(12, most)} more.")


@pytest.mark.parametrize("wrong", [0, 2.5, True])
@pytest.mark.parametrize("display", [AtomBarsDisplay, StabilityDisplay])
def test_a_number_of_rows_is_needed(display, wrong):
    make = {
        AtomBarsDisplay: made_up_results.explanation,
        StabilityDisplay: made_up_results.stability,
    }[display]
    with pytest.raises(ValueError, match=f"max_features={wrong}"):
        display.from_dict(make(), max_features=wrong)


def test_infinite_parts_come_last_and_are_marked():
    record = made_up_results.explanation(3)
    record["features"][0]["unique"] = "inf"
    display = AtomBarsDisplay.from_dict(record).plot()
    widths = [bar.get_width() for bar in display.ax_.patches[:3]]
    assert np.isfinite(widths).all()
    assert widths[2] == max(widths)
    assert "inf" in texts(display)


def test_candidates_of_each_step():
    """As in figure 3B of the paper: the noise of X1 is synergistic with it, X2 redundant."""
    toy = datasets.toy(300, random_state=1)
    selector = PIDSelector(random_state=0).fit(toy.X, toy.y)
    explanation = selector.explain(toy.X, toy.y, path=True)
    bars = {bar.name: bar for bar in AtomBarsDisplay.from_path(explanation).bars}
    assert bars["step 1: x0"].note == "included"
    assert max(bars["step 2: x2"].parts, key=bars["step 2: x2"].parts.get) == "synergy"
    assert max(bars["step 2: x1"].parts, key=bars["step 2: x1"].parts.get) == "shared"
    atoms = explanation.path.steps[1].atoms["x2"]
    assert bars["step 2: x2"].parts["synergy"] == atoms.synergy
    few = AtomBarsDisplay.from_path(explanation, max_candidates=1)
    assert [bar.name for bar in few.bars] == ["step 1: x0", "step 2: x2", "step 3: x1"]
    with pytest.raises(TypeError, match="path=True"):
        AtomBarsDisplay.from_path(selector.explain(toy.X, toy.y))


def test_atoms_of_two_sources_have_plain_names_and_their_intervals():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, size=(2, 100))
    found = decompose([first, second], first & second, n_bootstrap=40, random_state=0)
    display = AtomBarsDisplay.from_decomposition(found)
    assert rows(display) == ["shared", "unique 1", "unique 2", "synergy"]
    drawn = [tuple(line.get_xdata()) for line in display.ax_.lines if line.get_marker() == "|"]
    assert drawn == [pytest.approx(ends) for ends in found.intervals.values()]
    assert f"synergy: {found.synergy:.3f}, from" in display.describe()


def test_of_four_sources_the_largest_atoms_come_first():
    values = np.linspace(-0.5, 0.4, 166)
    display = AtomBarsDisplay.from_dict(made_up_results.decomposition(values)).plot()
    assert rows(display)[0] == lattice(4).labels[0]
    assert "and 136 more" in texts(display)
    assert "1 is s0, 2 is s1, 3 is s2, 4 is s3; the target is t" in display.ax_.get_xlabel()


# ------------------------------------------------------------------------------------ importance


def test_importance_is_what_is_added_with_its_interval():
    record = made_up_results.explanation(5)
    display = ImportanceDisplay.from_dict(record).plot()
    assert rows(display) == made_up_results.names_of(5)
    colours = {name: to_rgb(colour) for name, (colour, _) in PARTS.items()}
    bars = [
        (round(bar.get_y() + 0.36), to_rgb(bar.get_facecolor()), bar.get_x(), bar.get_width())
        for bar in display.ax_.patches
    ]
    assert bars[:2] == [
        (0, colours["unique"], 0.0, 0.5),
        (0, colours["synergy"], 0.5, 0.125),
    ]
    whiskers = [tuple(line.get_xdata()) for line in display.ax_.lines if line.get_marker() == "|"]
    assert whiskers[0] == tuple(record["features"][0]["intervals"]["added"])
    assert len(whiskers) == 4


def test_features_that_are_not_selected_are_pale_with_the_p_value_that_leaves_them_out():
    display = ImportanceDisplay.from_dict(made_up_results.explanation(5)).plot()
    opacity = [bar.get_alpha() for bar in display.ax_.patches]
    assert opacity == [1.0] * 6 + [PALE] * 2
    notes = texts(display)
    assert "0.625, p = 0.005" in notes
    assert "≥ 0.375, p = 0.005" in notes
    assert "0.250, not significant, p = 0.500" in notes
    early = ImportanceDisplay.from_dict({**made_up_results.explanation(5), "is_sequential": True})
    assert "not significant, p > 0.05" in early.describe()


def test_importance_leaves_out_what_could_not_be_selected():
    record = made_up_results.explanation(6)
    record["features"][4]["role"] = "duplicate"
    record["features"][5]["role"] = "skipped"
    display = ImportanceDisplay.from_dict(record, max_features=3).plot()
    assert repr(display) == "<ImportanceDisplay: 4 features, 3 selected>"
    assert rows(display) == made_up_results.names_of(3)
    assert "and 1 more" in texts(display)
    empty = ImportanceDisplay.from_dict({**record, "features": []}).plot()
    assert len(texts(empty)) == 1


# --------------------------------------------------------------------------------------- lattice


@pytest.mark.parametrize("n_sources", [2, 3, 4])
def test_edges_join_neighbours_of_the_lattice(n_sources):
    place = layout(n_sources)
    # Upwards, one member of an antichain is taken from its up-set; but at the top nothing is left.
    n_edges = sum(map(len, lattice(n_sources).antichains)) - 1
    upsets = lattice(n_sources).upsets
    assert len(place.edges) == len(set(place.edges)) == n_edges
    for low, high in place.edges:
        assert place.level[high] == place.level[low] + 1
        assert not (upsets[high] & ~upsets[low]).any()
    assert len(set(zip(place.x, place.level, strict=True))) == len(upsets)


@pytest.mark.parametrize("n_sources", [2, 3])
def test_all_atoms_of_few_sources_are_written(n_sources):
    labels = lattice(n_sources).labels
    values = np.arange(len(labels)) / 100 - 0.02
    display = LatticeDisplay.from_dict(made_up_results.decomposition(values)).plot()
    for label, value in zip(labels, values, strict=True):
        text = next(text for text in texts(display) if text.startswith(f"{label}\n"))
        assert text.endswith(f"\n{round(value, 3) + 0.0:.3f}")
    faces = [text.get_bbox_patch().get_facecolor() for text in display.ax_.texts]
    assert faces[0][0] > faces[0][2]  # below zero it is red, above it blue
    assert faces[-1][0] < faces[-1][2]


def test_of_four_sources_the_largest_are_listed():
    values = np.zeros(166)
    values[[5, 50, 100]] = (0.5, -0.3, 0.2)
    display = LatticeDisplay.from_dict(made_up_results.decomposition(values)).plot()
    labels = lattice(4).labels
    *numbers, listing = texts(display)
    assert numbers == ["1", "2", "3"]
    assert listing.split("\n") == [
        f"1: {labels[5]} 0.500",
        f"2: {labels[50]} -0.300",
        f"3: {labels[100]} 0.200",
    ]
    (nodes,) = [found for found in display.ax_.collections if len(found.get_offsets()) == 166]
    assert nodes.get_array().tolist() == values.tolist()
    largest = f"{labels[5]} 0.500, {labels[50]} -0.300, {labels[100]} 0.200."
    assert largest in display.describe()


def test_five_sources_are_too_many():
    with pytest.raises(ValueError, match="2 to 4 sources"):
        LatticeDisplay.from_dict(
            {"atoms": dict.fromkeys(map(str, range(7579)), 0.0), "unit": "bit", "measure": "sx"}
        )


# ------------------------------------------------------------------------------------- stability


def test_frequencies_are_sorted_and_those_of_the_most_frequent_set_filled():
    found = Stability(("a", "b", "c"), (("b",), ("b",), ("b", "c"), ("b", "c", "a")))
    display = StabilityDisplay.from_stability(found)
    assert rows(display) == ["b", "c", "a"]
    dots = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert [dot.get_xdata()[0] for dot in dots] == [1.0, 0.5, 0.25]
    assert [dot.get_markerfacecolor() == "white" for dot in dots] == [False, True, True]
    spans = [tuple(line.get_xdata()) for line in display.ax_.lines if line.get_marker() == "None"]
    assert spans == [found.intervals[name] for name in "bca"]
    assert "2 times: b." in display.describe()
