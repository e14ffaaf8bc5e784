"""Figures are plain numbers: what is stored can be drawn again."""

import json

import made_up
import pytest

from reproduction.figures import ROLES, Figure, Panel, Series


@pytest.mark.parametrize("figure", made_up.figures(), ids=lambda figure: figure.title[:8])
def test_json_keeps_every_number_and_text(figure):
    again = Figure.from_dict(json.loads(json.dumps(figure.to_dict())))
    assert json.dumps(again.to_dict()) == json.dumps(figure.to_dict())


def test_a_missing_value_is_kept_as_missing():
    series = Series("MI", "mi", ["a", "b"], [1.0, None])
    figure = Figure("gap", "Gap", "", (Panel("", "bars", (series,)),))
    again = Figure.from_dict(json.loads(json.dumps(figure.to_dict())))
    assert again.panels[0].series[0].y == [1.0, None]


def test_marks_and_columns_survive():
    panel = Panel("", "lines", marks=(0.5, 1.0))
    again = Figure.from_dict(Figure("a", "A", "", (panel,), n_columns=2).to_dict())
    assert again.n_columns == 2
    assert tuple(again.panels[0].marks) == (0.5, 1.0)


def test_every_role_is_there_once():
    assert len(set(ROLES)) == len(ROLES) == 16
