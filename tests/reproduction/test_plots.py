"""Drawings hold what the figure says, look the same again, and stay small."""

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree

import made_up
import matplotlib
import pytest
from matplotlib.colors import to_rgb

from pidselect.report import style
from reproduction import panels, plots
from reproduction.figures import ROLES, Figure, Panel, PanelKind, Series
from reproduction.plots import describe, draw, save

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> str:
    found = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return " ".join(element.text or "" for element in found)


def filled(svg: str, role: str) -> int:
    """Count the shapes of the colour of a role that has no hatch."""
    return svg.lower().count(f"fill:{style.LOOKS[role].colour.lower()}")


def one(*series: Series, kind: PanelKind = "bars", **more) -> Figure:
    return Figure("one", "One", "Caption.", (Panel("Only", kind, series, **more),))


# ------------------------------------------------------------------------------ the whole drawing


@pytest.mark.parametrize("figure", made_up.figures(), ids=lambda figure: figure.title[:8])
def test_a_drawing_is_one_small_svg_and_the_same_again(figure):
    svg = draw(figure)
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("aria-label") == describe(figure)
    assert len(svg.encode()) < 150_000
    assert svg == draw(figure)
    assert "nan" not in re.sub(r'href="data:[^"]*"', "", svg)
    for element in root.iter():  # nothing outside is asked for, nothing is said about the page
        assert element.tag not in (f"{SVG}style", f"{SVG}script", f"{SVG}metadata")
        assert element.get("href", "#").startswith(("#", "data:image/png;base64"))


@pytest.mark.parametrize("n_categories", [1, 30])
def test_many_and_few_categories_are_all_named(n_categories):
    svg = draw(made_up.bars(n_categories))
    assert len(svg.encode()) < 150_000
    assert {f"X{number}" for number in range(1, n_categories + 1)} <= set(texts(svg).split())


def test_ids_are_those_referred_to_and_differ_between_figures():
    first, second = draw(made_up.bars(2), salt="a"), draw(made_up.bars(2), salt="b")
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert ids[0] == set(re.findall(r"#([\w]+-\d+)", first))


def test_drawing_leaves_the_settings_as_they_were():
    before = dict(matplotlib.rcParams)
    draw(made_up.stacked())
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in plots.__dict__


def test_text_stays_text():
    svg = draw(made_up.hostile())
    tags = {element.tag for element in ElementTree.fromstring(svg).iter()}
    assert not tags & {f"{SVG}script", f"{SVG}img"}
    assert "onerror=alert(1)>" in texts(svg)
    assert "$x_1$" in texts(svg)


def test_a_figure_without_panels_or_values_is_drawn():
    assert draw(Figure("none", "None", "", ())).startswith("<svg")
    assert "nothing to show" in texts(draw(Figure("a", "A", "", (Panel("", "lines"),))))
    gone = Series("MI", "mi", ["a"], [None], error=[None], threshold=[None])
    for kind in ("bars", "stacked"):
        assert draw(one(gone, kind=kind)).startswith("<svg")


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_saved_by_suffix(tmp_path, suffix):
    path = tmp_path / f"figure{suffix}"
    save(made_up.stacked(), path)
    start = {".svg": b"<svg", ".png": b"\x89PNG"}[suffix]
    assert path.read_bytes().startswith(start)


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"as \.svg or \.png, not as '\.pdf'"):
        save(made_up.stacked(), tmp_path / "figure.pdf")


# --------------------------------------------------------------------------------- what is told


def test_description_names_title_caption_and_panels():
    told = describe(made_up.curves())
    assert told.startswith("Curves. Atoms and terms over alpha. 3 panels: A Atoms; B Terms;")


def test_letters_only_where_there_are_several_panels():
    several = texts(draw(made_up.curves())).split()
    assert {"A", "B", "C"} <= set(several)
    assert "A" not in texts(draw(made_up.stacked())).split()


def test_one_legend_if_all_panels_share_it():
    assert texts(draw(made_up.bars(2, n_panels=3))).count("I(X1, X2; Y)") == 1
    other = Panel("Other", "bars", [made_up.series("other", "first", ["a"])])
    two = made_up.bars(2, n_panels=2).panels
    for panels_of, number in (((*two, other), 1), ((two[0], other, two[1]), 2)):
        assert texts(draw(Figure("mixed", "", "", panels_of))).count("I(X1, X2; Y)") == number


def test_rows_with_the_same_legend_have_it_once_below_the_last():
    terms, atoms = made_up.bars(1, n_panels=2).panels, made_up.stacked().panels
    rows = [list(terms), list(terms), [*atoms, *atoms], [*terms[:1], *atoms]]
    legends = plots._legends(rows, 3)
    places = [[(legend.column, legend.span) for legend in below] for below in legends]
    assert places == [[], [(0, 3)], [(0, 2)], [(0, 1), (1, 1)]]
    labels = [label for label, _, _ in legends[2][0].entries]
    assert labels == [label for label, _ in made_up.ATOMS]


def test_a_legend_explains_thresholds():
    assert plots.THRESHOLD in texts(draw(made_up.bars(1, n_panels=1)))
    assert plots.THRESHOLD not in texts(draw(made_up.stacked()))


# ---------------------------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("kind", ["bars", "stacked"])
def test_a_missing_bar_leaves_a_gap(kind):
    whole = Series("MI", "mi", ["a", "b", "c"], [1.0, 2.0, 3.0])
    broken = Series("MI", "mi", ["a", "b", "c"], [1.0, None, 3.0])
    assert filled(draw(one(whole, kind=kind)), "mi") == 1 + 3  # and one in the legend
    assert filled(draw(one(broken, kind=kind)), "mi") == 1 + 2


def axes_of(figure: Figure):
    return plots._compose(figure).axes[0]


def test_bars_stand_on_zero_unless_some_are_negative():
    assert axes_of(one(Series("MI", "mi", ["a"], [0.01], error=[0.5]))).get_ylim()[0] == 0
    assert axes_of(one(Series("MI", "mi", ["a"], [0.0]))).get_ylim() == (0, 1)
    low, high = axes_of(one(Series("MI", "mi", ["a", "b"], [-1.0, 0.5]))).get_ylim()
    assert low < -1
    assert high > 0.5


def test_an_error_of_rounding_is_zero():
    axes = axes_of(one(Series("unique", "unique1", ["a", "b"], [-3e-16, 1.0]), kind="stacked"))
    assert axes.get_ylim()[0] == 0
    assert axes.spines["bottom"].get_visible()


def test_there_is_room_above_a_stack_with_nothing_on_top():
    found, wrong = (Series(role, role, ["a"], [y]) for role, y in (("right", 10.0), ("wrong", 0.0)))
    assert axes_of(one(found, wrong, kind="stacked")).get_ylim()[1] > 10


def test_counts_have_whole_numbers_as_ticks():
    ticks = axes_of(one(Series("found", "right", ["a", "b"], [0.0, 1.0]))).get_yticks()
    assert all(tick == round(tick) for tick in ticks)


@pytest.mark.parametrize("kind", ["bars", "stacked"])
def test_axes_reach_the_top_asked_for_and_what_is_above(kind):
    low, high = (Series("found", "right", ["a"], [y]) for y in (6.0, 130.0))
    assert axes_of(one(low, kind=kind, top=100.0)).get_ylim() == (0.0, 105.0)
    assert axes_of(one(high, kind=kind, top=100.0)).get_ylim()[1] > 130


def test_stacked_bars_add_up_on_either_side_of_zero():
    axes = axes_of(
        one(
            Series("a", "unique1", ["x"], [1.0]),
            Series("b", "shared", ["x"], [-0.5]),
            Series("c", "synergy", ["x"], [2.0]),
            kind="stacked",
        )
    )
    spans = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]
    assert spans == [(0.0, 1.0), (0.0, -0.5), (1.0, 3.0)]


def test_bars_of_one_category_stand_side_by_side():
    names = ["a", "b"]
    axes = axes_of(one(*(Series(role, role, names, [1.0, 1.0]) for role in ("mi", "cmi", "joint"))))
    edges = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    assert len(edges) == 6
    assert all(left[1] <= right[0] for left, right in pairwise(edges))
    assert [round(tick) for tick in axes.get_xticks()] == [0, 1]


def test_series_without_a_common_category_stand_in_the_middle_of_theirs():
    right, wrong = Series("X", "right", ["a"], [1.0]), Series("Z", "wrong", ["b"], [1.0])
    middles = [bar.get_x() + bar.get_width() / 2 for bar in axes_of(one(right, wrong)).patches]
    assert middles == pytest.approx([0.0, 1.0])


def test_thresholds_and_errors_are_where_they_should():
    series = Series("MI", "mi", ["a", "b"], [1.0, 2.0], error=[0.25, None], threshold=[0.5, 0.75])
    heights = [set(line.get_ydata()) for line in axes_of(one(series)).lines]
    assert any({0.75, 1.25} <= seen for seen in heights)
    assert any({0.5, 0.75} <= seen for seen in heights)


def test_lines_keep_gaps_and_marks():
    series = Series("MI", "mi", [0.0, 1.0, 2.0], [1.0, None, 3.0])
    axes = axes_of(one(series, kind="lines", marks=(0.5,)))
    assert list(axes.lines[0].get_xdata()) == [0.5, 0.5]
    curve = axes.lines[-1].get_ydata()
    assert curve[0] == 1.0
    assert curve[1] != curve[1]


@pytest.mark.parametrize(
    ("x", "scale"), [([100, 1000, 50000], "log"), ([0.0, 1.0, 100.0], "linear"), ([1], "linear")]
)
def test_numbers_of_very_different_size_get_a_logarithmic_axis(x, scale):
    axes = axes_of(one(Series("found", "right", x, [1.0] * len(x)), kind="lines"))
    assert axes.get_xscale() == scale


def test_a_flat_line_stands_on_zero():
    low, high = axes_of(one(Series("a", "mi", [0, 1], [100.0, 100.0]), kind="lines")).get_ylim()
    assert low == 0
    assert 100 < high < 120


def test_later_points_are_larger_and_above():
    clouds = axes_of(made_up.cloud(50)).collections
    sizes = [cloud.get_sizes()[0] for cloud in clouds]
    heights = [cloud.get_zorder() for cloud in clouds]
    assert sizes == sorted(set(sizes))
    assert heights == sorted(set(heights))


def test_only_big_clouds_become_pictures():
    rasterised = [
        [cloud.get_rasterized() for cloud in axes_of(made_up.cloud(number)).collections]
        for number in (1023, 50)
    ]
    assert rasterised == [[True, False, False], [False, False, False]]


def test_a_lattice_tells_how_often_each_is_covered():
    shown = texts(draw(made_up.lattice()))
    assert "{1}{2} ×2" in shown
    assert "{1,2}" in shown
    assert "×1" not in shown
    assert "×0" not in shown


def test_crowded_panels_stand_in_fewer_columns():
    few, many = made_up.bars(3, n_panels=3), made_up.bars(30, n_panels=3)
    assert plots._columns(few)[0] == 3
    assert plots._columns(many)[0] == 1


# ------------------------------------------------------------------------------------ the looks


def test_every_role_has_a_look_and_every_kind_a_function():
    assert set(style.LOOKS) == set(ROLES)
    assert set(panels.KINDS) == {"bars", "stacked", "lines", "points", "lattice"}
    assert style.LOOKS["right"].colour == "#0072B2"
    assert style.LOOKS["wrong"].colour == "#E69F00"


@pytest.mark.parametrize(
    "group",
    [
        ("mi", "mi2", "cmi", "cmi2", "joint"),
        ("unique1", "unique2", "shared", "synergy"),
        ("right", "wrong"),
        ("first", "second", "third", "fourth"),
    ],
)
def test_roles_that_stand_together_differ_without_colour(group):
    looks = [style.LOOKS[role] for role in group]
    for feature in ("colour", "hatch", "marker"):
        assert max(Counter(getattr(look, feature) for look in looks).values()) == 1
    contrasts = [_contrast_with_white(look.colour) for look in looks]
    assert min(contrasts) > 2.0


def _contrast_with_white(colour: str) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    ]
    luminance = sum(
        weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )
    return 1.05 / (luminance + 0.05)
