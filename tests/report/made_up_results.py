"""Made-up results of a chosen size, as their ``to_dict`` gives them, for displays to draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from pidselect.decomposition.lattice import lattice

HOSTILE = ["<img src=x onerror=alert(1)>", "$x^2$", "a\nb\x00c", "x" * 200, "高さ", " "]


def names_of(n_features: int) -> list[str]:
    return [f"feature_{place}" for place in range(n_features)]


def selection(
    n_features: int = 6, n_steps: int = 4, removed: int = 0, names: list[str] | None = None
) -> dict[str, Any]:
    """Return a path whose last step includes nothing, after which the first few are removed."""
    names = names or names_of(n_features)
    rng = np.random.default_rng(n_features)
    given: list[str] = []
    steps = []
    for number in range(n_steps):
        left = [name for name in names if name not in given]
        accepted = number < n_steps - 1
        scores = rng.uniform(-2.0, 2.0, size=len(left))
        place = int(rng.integers(len(left)))
        scores[place] = 30.0 - number / 2 if accepted else 2.5
        steps.append(step(left, scores, left[place], accepted, given))
        given += [left[place]] if accepted else []
    steps += [
        {**step([name], [0.1], name, False, given), "phase": "backward"} for name in given[:removed]
    ]
    return {"features": given[removed:], "fixed_features": [], "steps": steps, "settings": {}}


def step(candidates: Any, scores: Any, chosen: str, accepted: bool, given: Any) -> dict[str, Any]:
    return {
        "phase": "forward",
        "conditioning_set": list(given),
        "candidates": list(candidates),
        "values": [float(score) / 30 for score in scores],
        "scores": [float(score) for score in scores],
        "unit": "",
        "chosen": chosen,
        "critical_value": 4.0,
        "p_value": 0.01,
        "alpha": 0.05,
        "accepted": accepted,
        "jointly_included": [],
        "replaced": "",
    }


def explanation(n_features: int = 4, names: list[str] | None = None) -> dict[str, Any]:
    """Return features of falling strength, half of them selected, the last one not estimable."""
    names = names or names_of(n_features)
    features = []
    for place, name in enumerate(names):
        unique, shared, synergy = 500 // (place + 1), 250 // (place + 1), 125
        bits = {"information": unique + shared, "added": unique + synergy}
        bits |= {"unique": unique, "shared": shared, "synergy": synergy}
        is_selected = place < (len(names) + 1) // 2
        features.append(
            {
                "name": name,
                "role": "strongly relevant" if is_selected else "irrelevant",
                "selected": is_selected,
                **{key: value / 1000 for key, value in bits.items()},
                "intervals": {key: [value / 2000, value / 500] for key, value in bits.items()},
                "p_value": 0.005 if is_selected else 0.5,
                "is_lower_bound": place == 1,
            }
        )
    features[-1] |= {**dict.fromkeys(bits), "intervals": {}, "p_value": None}
    test = {"alpha": 0.05, "level": 0.95, "is_sequential": False}
    return {"features": features, **test}


def joint(names: list[str] | None = None) -> dict[str, Any]:
    """Return a share over two features of three levels, with an empty cell."""
    names = names or names_of(5)
    return {
        "features": names[:2],
        "levels": [names[:3], names[2:5]],
        "counts": [[40, 20, 30], [10, 0, 2], [90, 80, 70]],
        "values": [[0.25, 0.5, 0.75], [0.5, None, 1.0], [0.125, 0.5, 0.0]],
        "overall": 0.375,
        "range": [0.0, 0.75],
        "quantity": f"share of y = {names[1][:24]}",
        "digits": 2,
    }


def decomposition(values: Any, names: list[str] | None = None) -> dict[str, Any]:
    """Return as many atoms as there are values: 4 for two sources, 18 for three, 166 for four."""
    n_sources = {4: 2, 18: 3, 166: 4}[len(values)]
    return {
        "atoms": dict(zip(lattice(n_sources).labels, values, strict=True)),
        "unit": "bit",
        "measure": "sx",
        "variables": names or [f"s{place}" for place in range(n_sources)] + ["t"],
    }


def stability(n_features: int = 4, names: list[str] | None = None) -> dict[str, Any]:
    """Return ten selections of ever fewer features, the last two alike."""
    names = names or names_of(n_features)
    sizes = [max(1, len(names) * place // 10) for place in (10, 9, 8, 7, 6, 5, 4, 3, 1, 1)]
    selections = [names[:size] for size in sizes]
    shares = {name: sum(name in one for one in selections) / 10 for name in names}
    return {
        "frequencies": shares,
        "intervals": {name: [share / 2, (1 + share) / 2] for name, share in shares.items()},
        "selections": selections,
        "most_frequent": selections[-1],
        "stability": 0.25,
    }
