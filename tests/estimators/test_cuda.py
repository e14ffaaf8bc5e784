"""The kernels of the GPU: compiled for the CPU here, and on a GPU where there is one."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cuda_on_cpu import COMPILER, CpuDevice
from hypothesis import given as examples_of
from hypothesis import settings
from hypothesis import strategies as st

from pidselect import PIDSelector
from pidselect.data import Block, Column
from pidselect.estimators import KSG, Batch, Copula, Discrete, Mixed
from pidselect.estimators.cuda import scorer
from pidselect.estimators.cuda.device import cuda
from pidselect.estimators.cuda.scorer import CudaScorer, bind_on
from pidselect.selection import executor
from pidselect.selection import validation as checks
from pidselect.significance import cuda as significance_cuda
from pidselect.significance import interactions
from pidselect.significance.cuda import CudaPermutations, CudaScan
from pidselect.significance.interactions import InteractionScan
from pidselect.significance.rng import permutations

pytestmark = pytest.mark.cuda

MEMORY = 2**28


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("no C++ compiler to run the kernels of the GPU on the CPU with")
    return CpuDevice(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def device(compiled):
    compiled.launched.clear()
    return compiled


@pytest.fixture(scope="module")
def gpu():
    try:
        return cuda()
    except RuntimeError as error:
        pytest.skip(str(error))


def block(values, feature_type="continuous"):
    values = np.asarray(values, dtype=float).reshape(len(values), -1)
    return Block(tuple(Column(f"c{i}", feature_type, c.copy()) for i, c in enumerate(values.T)))


def variables(n_samples, n_given, *, digits=None, seed=0):
    """Return a target, a conditioning set and a candidate, with ties if rounded."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_given + 1))
    y = X.sum(axis=1) + rng.normal(size=n_samples)
    X[: n_samples // 20] *= 30.0  # outliers, whose neighbours are in no list
    if digits is not None:
        X, y = X.round(digits), y.round(digits)
    return block(y), block(X[:, :n_given]) if n_given else Block(), block(X[:, -1])


def some_rows(n_samples, n_rows=33):
    observed = np.arange(n_samples, dtype=np.int32)[np.newaxis]
    return np.concatenate([observed, permutations((3,), range(1, n_rows), n_samples)])


def check_same(device, estimator, target, given, candidate, rows=None):
    rows = some_rows(target.n_samples) if rows is None else rows
    expected = estimator.bind(target, given).score(Batch(candidate, rows))
    bound = bind_on(device, estimator, target, given, MEMORY)
    assert isinstance(bound, CudaScorer)
    np.testing.assert_array_equal(bound.score(Batch(candidate, rows)), expected)


# ------------------------------------------------------------------ permutations


@pytest.mark.parametrize("n_samples", [1, 2, 33, 64, 300])
@pytest.mark.parametrize("shared_bytes", [48 * 1024, 0])
def test_permutations_are_those_of_the_cpu(compiled, n_samples, shared_bytes):
    device = replace(compiled, shared_bytes=shared_bytes)
    key = (2**64 - 1, 1, 0, 17)
    rows = np.asarray(CudaPermutations(device, n_samples)(key, range(0, 20)))
    assert rows.dtype == np.int32
    np.testing.assert_array_equal(rows[0], np.arange(n_samples))
    np.testing.assert_array_equal(rows[1:], permutations(key, range(1, 20), n_samples))


def test_permutations_do_not_depend_on_the_range(device):
    sample = CudaPermutations(device, 50)
    whole, part = sample((1,), range(0, 12)), sample((1,), range(7, 12))
    np.testing.assert_array_equal(np.asarray(whole)[7:], part.on_cpu)
    np.testing.assert_array_equal(whole[[7, 3]], np.asarray(whole)[[7, 3]])
    assert len(part) == 5


# ------------------------------------------------------------------ values


@pytest.mark.parametrize("digits", [None, 1, 0])
@pytest.mark.parametrize("n_given", [0, 1, 2, 3])
@pytest.mark.parametrize("estimator", [KSG(), Mixed()], ids=["ksg", "mixed"])
def test_same_values_as_on_the_cpu(device, estimator, n_given, digits):
    check_same(device, estimator, *variables(70, n_given, digits=digits))


@examples_of(
    st.integers(6, 50), st.integers(0, 3), st.sampled_from([None, 1, 0]), st.integers(0, 99)
)
@settings(max_examples=25)
def test_same_values_whatever_the_data(compiled, n_samples, n_given, digits, seed):
    check_same(compiled, KSG(), *variables(n_samples, n_given, digits=digits, seed=seed))


@pytest.mark.parametrize("n_samples", [3, 32, 33, 65])
def test_one_neighbour_of_few_samples(device, n_samples):
    check_same(device, KSG(k=1), *variables(n_samples, 2))


@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("estimator", [KSG(), Mixed()], ids=["ksg", "mixed"])
def test_lists_that_end_early(device, estimator, digits, monkeypatch):
    monkeypatch.setattr(scorer, "LIST_BOUNDS", (8, 8))
    for n_given in (1, 2):
        check_same(device, estimator, *variables(100, n_given, digits=digits))


def test_lists_limited_by_memory(compiled, monkeypatch):
    monkeypatch.setattr(scorer, "LIST_BOUNDS", (32, 4096))
    device = replace(compiled, free=4 * 100 * 16 * 12)  # about 16 neighbours of 12 bytes each
    check_same(device, KSG(), *variables(100, 2))


def test_large_conditioning_set(device):
    check_same(device, KSG(), *variables(60, 8))


def test_indices_of_32_bits(compiled):
    device = replace(compiled, max_uint16_samples=10)
    check_same(device, KSG(), *variables(50, 2))
    rows = CudaPermutations(device, 50)((1,), range(1, 9))
    np.testing.assert_array_equal(rows.on_cpu, permutations((1,), range(1, 9), 50))


def test_permutations_in_chunks(device, monkeypatch):
    monkeypatch.setattr(scorer, "CHUNK_BYTES", 1)
    check_same(device, KSG(), *variables(50, 2), rows=some_rows(50, 70))
    assert device.launched.count("score_columns") == 3


def test_ranks(device):
    target, given, candidate = variables(70, 2)
    check_same(device, KSG(scale="rank"), target, given, candidate)


def test_labels_are_zero_or_one_apart(device):
    rng = np.random.default_rng(5)
    labels = block(rng.integers(0, 3, 90), "nominal")
    number, other = (
        block(rng.normal(size=90)),
        block(rng.normal(size=90) + labels.columns[0].values),
    )
    check_same(device, Mixed(), other, labels, number)
    check_same(device, Mixed(), other, number + labels, block(rng.integers(0, 4, 90), "nominal"))
    check_same(device, Mixed(), labels, number, other)


def test_several_targets(device):
    rng = np.random.default_rng(6)
    check_same(device, KSG(), block(rng.normal(size=(60, 2))), Block(), block(rng.normal(size=60)))


# ------------------------------------------------------------------ estimators without a kernel


@pytest.mark.parametrize("estimator", [KSG(algorithm=2), Copula(), KSG(k=33)])
def test_estimators_without_a_kernel_stay_on_the_cpu(device, estimator):
    target, given, candidate = variables(60, 1)
    bound = bind_on(device, estimator, target, given, MEMORY)
    assert not isinstance(bound, CudaScorer)
    rows = some_rows(60)
    expected = estimator.bind(target, given).score(Batch(candidate, rows))
    np.testing.assert_array_equal(bound.score(Batch(candidate, rows)), expected)
    assert not device.launched


def test_discrete_targets_stay_on_the_cpu(device):
    levels = block(np.arange(60) % 3, "nominal")
    for estimator in (Discrete(), Mixed()):
        assert not isinstance(bind_on(device, estimator, levels, Block(), MEMORY), CudaScorer)


def test_several_columns_are_scored_on_the_cpu(device):
    target, given, _ = variables(60, 1)
    both = block(np.random.default_rng(8).normal(size=(60, 2)))
    rows = CudaPermutations(device, 60)((1,), range(0, 5))
    scored = bind_on(device, KSG(), target, given, MEMORY).score(Batch(both, rows))
    expected = KSG().bind(target, given).score(Batch(both, rows.on_cpu))
    np.testing.assert_array_equal(scored, expected)


def test_wrong_length(device):
    target, given, _ = variables(60, 1)
    bound = bind_on(device, KSG(), target, given, MEMORY)
    with pytest.raises(ValueError, match=r"50.*60"):
        bound.score(Batch.observed(variables(50, 0)[2]))


@pytest.mark.parametrize(
    "how",
    [
        {"estimator": "ksg", "surrogates": "global", "shared_permutations": False},
        {"estimator": "mixed-rank", "surrogates": ("global", "local")},  # local ones on the CPU
        {"estimator": "ksg-rank", "n_jobs": 2, "n_permutations": "auto"},
    ],
)
def test_same_selection(device, monkeypatch, how):
    for module in (executor, checks):
        monkeypatch.setattr(module, "cuda", lambda: device)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=60)
    how = {"n_permutations": 20, "random_state": 0, **how}
    on_cpu = PIDSelector(**how).fit(X, y)
    assert not device.launched
    there = PIDSelector(device="cuda", **how).fit(X, y)
    assert {"fill_permutations", "score_columns"} <= set(device.launched)
    assert there.selection_.to_dict() == on_cpu.selection_.to_dict()
    assert there.selected_.tolist() == on_cpu.selected_.tolist()
    assert sorted(there.selected_) == [0, 1]


# ------------------------------------------------------------------ interactions


def interaction_scan(n_samples, n_levels, n_classes, *, triples="all", n_given=0, seed=0):
    """Return a scan of columns of so many levels, the first two of them one feature."""
    rng = np.random.default_rng(seed)
    columns = [block(rng.integers(0, n, n_samples), "nominal") for n in n_levels]
    target = block(rng.integers(0, n_classes, n_samples), "nominal")
    given, free = Block(tuple(c for b in columns[:n_given] for c in b.columns)), columns[n_given:]
    return InteractionScan.of([free[0] + free[1], *free[2:]], target, None, triples, given)


def check_same_interactions(device, scan, blocks=None, n_rows=19):
    n_samples = len(scan.classes)
    rows = CudaPermutations(device, n_samples)((3,), range(n_rows))
    blocks = range(len(scan.blocks)) if blocks is None else blocks
    expected = scan.largest_values(blocks, rows.on_cpu)
    np.testing.assert_array_equal(CudaScan(device, scan).largest_values(blocks, rows), expected)


@pytest.mark.parametrize("block_size", [20, 2**18])
@pytest.mark.parametrize(
    ("n_samples", "n_levels", "n_classes"),
    [
        (70, (2, 3, 4, 2, 3, 4, 2, 3), 2),
        (70, (3,) * 70, 2),  # more columns than threads of a block
        (150, (4, 2, 4, 2), 3),
        (64, (2, 2, 3, 3), 6),
        (33, (2, 2, 2), 2),  # two features
    ],
)
def test_same_interactions_as_on_the_cpu(
    device, n_samples, n_levels, n_classes, block_size, monkeypatch
):
    monkeypatch.setattr(interactions, "BLOCK_SIZE", block_size)
    triples = "all" if len(n_levels) < 20 else "none"
    scan = interaction_scan(n_samples, n_levels, n_classes, triples=triples)
    check_same_interactions(device, scan)
    assert {"count_classes", "scan_pairs"} <= set(device.launched)
    assert ("scan_triples" in device.launched) == (triples == "all" and len(n_levels) > 3)


@pytest.mark.parametrize("triples", ["given", "all"])
def test_triples_with_given_columns(device, triples):
    scan = interaction_scan(90, (2, 3, 4, 2, 2), 2, triples=triples, n_given=2)
    check_same_interactions(device, scan)
    assert "scan_triples" in device.launched


def test_interactions_in_chunks(device, monkeypatch):
    """Permutations a few at a time, n ln n in global memory, and blocks in any order."""
    monkeypatch.setattr(interactions, "BLOCK_SIZE", 5)
    monkeypatch.setattr(significance_cuda, "CHUNK", 16)
    monkeypatch.setattr(significance_cuda, "PAIR_BYTES", 1)
    monkeypatch.setattr(significance_cuda, "DEFAULT_SHARED_BYTES", 0)
    scan = interaction_scan(70, (2, 3, 2, 3, 2, 3), 2)
    check_same_interactions(device, scan, blocks=[len(scan.blocks) - 1, 3, 0], n_rows=33)
    assert device.launched.count("scan_triples") == 3


@pytest.mark.parametrize("lookahead", [2, 3])
def test_same_selection_with_lookahead(device, monkeypatch, lookahead):
    for module in (executor, checks):
        monkeypatch.setattr(module, "cuda", lambda: device)
    X = np.random.default_rng(3).integers(0, 2, (90, 4))
    y = X[:, :lookahead].sum(axis=1) % 2
    how = {"estimator": "discrete", "lookahead": lookahead, "random_state": 0}
    on_cpu = PIDSelector(**how).fit(X, y)
    there = PIDSelector(device="cuda", **how).fit(X, y)
    assert "scan_pairs" in device.launched
    assert there.selection_.to_dict() == on_cpu.selection_.to_dict()
    assert there.selected_.tolist() == list(range(lookahead))


# ------------------------------------------------------------------ no GPU


class BrokenError(Exception):
    """What CuPy raises where there is no driver."""


def fake_cupy(count):
    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=BrokenError)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))


def no_driver():
    raise BrokenError("cudaErrorNoDevice: no CUDA-capable device is detected")


@pytest.mark.parametrize(
    ("cupy", "reason"),
    [
        (None, r"pidselect\[cuda\]"),
        (fake_cupy(no_driver), "cudaErrorNoDevice"),
        (fake_cupy(lambda: 0), "no GPU"),
    ],
)
def test_missing_gpu(monkeypatch, cupy, reason):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(checks, "cuda", cuda.__wrapped__)
    with pytest.raises(RuntimeError, match=reason) as raised:
        PIDSelector(device="cuda").fit("not even looked at", None)
    assert 'device="cpu"' in str(raised.value)


def test_unknown_device():
    with pytest.raises(ValueError, match="device='gpu'"):
        PIDSelector(device="gpu").fit(np.ones((9, 2)), np.ones(9))


# ------------------------------------------------------------------ on a GPU


@pytest.mark.parametrize("n_given", [0, 1, 2, 6])
@pytest.mark.parametrize("estimator", [KSG(), Mixed()], ids=["ksg", "mixed"])
def test_on_a_gpu(gpu, estimator, n_given):
    for digits in (None, 1):
        check_same(gpu, estimator, *variables(2000, n_given, digits=digits))


@pytest.mark.parametrize("n_samples", [1000, 70_000])
def test_permutations_on_a_gpu(gpu, n_samples):
    rows = CudaPermutations(gpu, n_samples)((4, 2), range(1, 41))
    np.testing.assert_array_equal(rows.on_cpu, permutations((4, 2), range(1, 41), n_samples))


@pytest.mark.parametrize("n_samples", [300, 5000])  # n ln n in shared memory, and in global
def test_interactions_on_a_gpu(gpu, n_samples):
    for n_classes in (2, 3, 6):
        check_same_interactions(gpu, interaction_scan(n_samples, (2, 3, 4) * 20, n_classes))
