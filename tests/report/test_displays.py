"""Behaviour of all displays: only the given axes change, and names stay text."""

import builtins
import importlib
import sys
from xml.etree import ElementTree

import made_up_results
import matplotlib
import pytest
from matplotlib import style
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from pidselect import PIDSelector
from pidselect.report.displays import (
    AtomBarsDisplay,
    ImportanceDisplay,
    JointDisplay,
    LatticeDisplay,
    SelectionPathDisplay,
    StabilityDisplay,
)

SVG = "{http://www.w3.org/2000/svg}"


def decomposition(names=None):
    return made_up_results.decomposition([0.25, 0.0, -0.125, 0.5], names and names[:3])


DISPLAYS = {
    "path": lambda names=None: SelectionPathDisplay.from_dict(
        made_up_results.selection(removed=1, names=names)
    ),
    "importance": lambda names=None: ImportanceDisplay.from_dict(
        made_up_results.explanation(names=names)
    ),
    "atoms": lambda names=None: AtomBarsDisplay.from_dict(made_up_results.explanation(names=names)),
    "joint": lambda names=None: JointDisplay.from_dict(made_up_results.joint(names)),
    "stability": lambda names=None: StabilityDisplay.from_dict(
        made_up_results.stability(names=names)
    ),
    "atoms of two": lambda names=None: AtomBarsDisplay.from_dict(decomposition(names)),
    "lattice": lambda names=None: LatticeDisplay.from_dict(decomposition(names)),
}


@pytest.fixture(params=DISPLAYS, ids=str)
def make(request):
    return DISPLAYS[request.param]


def test_svg_is_one_described_element_and_reproducible(make):
    display = make()
    svg = display.to_svg()
    root = ElementTree.fromstring(svg)
    assert (root.tag, root.get("role")) == (f"{SVG}svg", "img")
    described = {element.get("id"): element.text for element in root[:2]}
    assert [element.tag for element in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert root.get("aria-labelledby").split() == list(described)
    assert list(described.values()) == [display.title, display.describe()]
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "text.color": "red"}):
        before = dict(matplotlib.rcParams)
        assert svg == make().to_svg()  # whatever settings the reader has
        assert dict(matplotlib.rcParams) == before
    assert len(svg.encode()) < 60_000
    tags = {element.tag for element in root.iter()}
    assert not tags & {f"{SVG}style", f"{SVG}script", f"{SVG}metadata"}


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (SelectionPathDisplay.from_selection, r"Selection.*selector\.selection_"),
        (ImportanceDisplay.from_explanation, r"Explanation.*selector\.explain\(X, y\)"),
        (AtomBarsDisplay.from_explanation, r"Explanation.*selector\.explain\(X, y\)"),
        (AtomBarsDisplay.from_decomposition, r"Decomposition.*decompose\(sources"),
        (LatticeDisplay.from_decomposition, r"Decomposition.*decompose\(sources"),
        (StabilityDisplay.from_stability, r"Stability.*stability\(selector, X, y\)"),
    ],
)
def test_a_result_of_another_type_is_refused(method, expected):
    with pytest.raises(TypeError, match=expected):
        method(PIDSelector())


def test_a_grid_of_axes_is_refused(make):
    with pytest.raises(TypeError, match=r"axes\[0, 0\].*ndarray"):
        make().plot(Figure().subplots(2, 2))


def test_without_axes_a_figure_is_made_and_can_be_made_again(make):
    display = make()
    assert not hasattr(display, "ax_")
    assert display.plot() is display
    first = display.figure_
    assert display.ax_.figure is first
    assert display.plot().figure_ is not first
    assert repr(display).startswith(f"<{type(display).__name__}: ")
    assert len(repr(display)) < 90


def test_only_the_given_axes_are_touched(make):
    figure = Figure(figsize=(9, 4), layout="constrained")
    own, other = figure.subplots(1, 2)
    engine = figure.get_layout_engine()
    places = [axes.get_position(original=True).bounds for axes in (own, other)]
    before = len(other.get_children())
    display = make().plot(ax=own)
    assert display.ax_ is own
    assert display.figure_ is figure
    assert figure.axes == [own, other]
    assert figure.get_layout_engine() is engine
    assert len(other.get_children()) == before
    assert [axes.get_position(original=True).bounds for axes in (own, other)] == places
    assert len(own.get_children()) > before
    figure.draw_without_rendering()


def lightness(colour):
    return sum(to_rgb(colour)) / 3


def test_on_a_dark_figure_everything_can_be_read(make):
    with matplotlib.rc_context(style.library["dark_background"]):
        figure = Figure(figsize=(9, 5), layout="constrained")
        ax = make().plot(figure.subplots()).ax_
    figure.draw_without_rendering()
    inner = ax.get_window_extent()
    assert lightness(ax.get_facecolor()) == 1.0
    for text in ax.findobj(Text):
        has_own_ground = text.get_bbox_patch()
        if text.get_text() and text.get_visible() and not has_own_ground:
            x, y = text.get_window_extent().get_points().mean(axis=0)
            ground = 1.0 if inner.contains(x, y) else 0.0
            assert abs(lightness(text.get_color()) - ground) > 0.3, text.get_text()


def test_names_are_text_whatever_is_in_them(make):
    display = make(made_up_results.HOSTILE)
    root = ElementTree.fromstring(display.to_svg())
    assert not {element.tag for element in root.iter()} & {f"{SVG}script", f"{SVG}img"}
    seen = " ".join(element.text or "" for element in root.iter(f"{SVG}text"))
    texts = f"{seen} {display.describe()}"
    if made_up_results.HOSTILE[2] in str(vars(display)):
        assert r"'a\nb\x00c'" in texts
    assert "\x00" not in texts
    assert "x" * 61 not in texts


def test_dollars_are_text_even_when_drawn_by_other_settings(tmp_path):
    names = ["$a$", "$b_1$", "$$", "$", "$e"]
    for make in DISPLAYS.values():
        figure = Figure(figsize=(12, 6), layout="constrained")
        make(names).plot(figure.subplots())
        path = tmp_path / "picture.svg"
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            figure.savefig(path)
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
        texts = [element.text or "" for element in root.iter(f"{SVG}text")]
        assert any(name in text for name in names[:2] for text in texts)


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")]
)
def test_it_is_written_by_the_suffix_and_the_same_again(suffix, start, tmp_path):
    display = StabilityDisplay.from_dict(made_up_results.stability(1))
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        display.save(path)
    assert paths[0].read_bytes().startswith(start)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"\.svg, \.png, \.pdf.*a\.doc"):
        DISPLAYS["atoms"]().save(tmp_path / "a.doc")


@pytest.fixture
def forgotten(monkeypatch):
    """Let modules that use matplotlib be imported anew."""
    for name in ("style", "displays"):
        full = f"pidselect.report.{name}"
        for loaded in [one for one in sys.modules if one == full or one.startswith(f"{full}.")]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.delattr(full)


@pytest.mark.usefixtures("forgotten")
def test_pyplot_is_never_loaded(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # to import it is an error
    anew = importlib.import_module("pidselect.report.displays")
    records = {
        anew.SelectionPathDisplay: made_up_results.selection(),
        anew.AtomBarsDisplay: made_up_results.explanation(),
        anew.JointDisplay: made_up_results.joint(),
        anew.StabilityDisplay: made_up_results.stability(),
        anew.LatticeDisplay: decomposition(),
    }
    assert SelectionPathDisplay not in records
    for display, record in records.items():
        assert display.from_dict(record).plot().ax_.has_data()
    assert display.from_dict(record)._repr_png_().startswith(b"\x89PNG")


@pytest.mark.usefixtures("forgotten")
def test_without_matplotlib_the_extra_is_named(monkeypatch):
    find = builtins.__import__

    def refuse(name, *rest):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name)
        return find(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pidselect\[cli\]'"):
        importlib.import_module("pidselect.report.displays")


# ------------------------------------------------------------------- few features, and very many


def overlapping(ax):
    """Return the texts of axes that lie over each other."""
    ax.figure.draw_without_rendering()
    texts = [
        *ax.texts,
        *ax.get_xticklabels(),
        *ax.get_yticklabels(),
        ax.xaxis.label,
        ax.yaxis.label,
    ]
    shown = [text for text in texts if text.get_text() and text.get_visible()]
    # A box around a slanted text says nothing of where it lies.
    shown = [text for text in shown if text.get_rotation() in (0.0, 90.0)]
    boxes = [text.get_window_extent().padded(-1.0) for text in shown]
    return [
        (shown[i].get_text(), shown[j].get_text())
        for i in range(len(shown))
        for j in range(i)
        if boxes[i].overlaps(boxes[j])
    ]


SIZES = {
    "path 3": lambda: SelectionPathDisplay.from_dict(made_up_results.selection(3, 3)),
    "path 12": lambda: SelectionPathDisplay.from_dict(made_up_results.selection(12, 9, removed=2)),
    "path 100": lambda: SelectionPathDisplay.from_dict(made_up_results.selection(100, 24)),
    "path 1": lambda: SelectionPathDisplay.from_dict(made_up_results.selection(1, 1)),
    "atoms 3": lambda: AtomBarsDisplay.from_dict(made_up_results.explanation(3)),
    "atoms 300": lambda: AtomBarsDisplay.from_dict(made_up_results.explanation(300)),
    "joint": lambda: JointDisplay.from_dict(made_up_results.joint()),
    "stability 3": lambda: StabilityDisplay.from_dict(made_up_results.stability(3)),
    "stability 300": lambda: StabilityDisplay.from_dict(made_up_results.stability(300)),
}


@pytest.mark.parametrize("size", SIZES)
def test_no_text_lies_over_another(size):
    display = SIZES[size]().plot()
    assert overlapping(display.ax_) == []


@pytest.mark.parametrize("size", ["path 100", "atoms 300", "stability 300"])
def test_in_small_axes_names_are_thinned_out(size):
    figure = Figure(figsize=(4, 3))
    display = SIZES[size]().plot(figure.subplots())
    names = [label.get_text() for label in display.ax_.get_xticklabels()]
    names += [label.get_text() for label in display.ax_.get_yticklabels()]
    assert 3 <= sum("feature" in name for name in names) <= 60
    assert overlapping(display.ax_) == []
