"""Comparing and reading tensors: edge values, hostile files, the capped log."""

import math
import os
import struct

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from v2kb.worker.harness import tensorfile, timers
from v2kb.worker.harness.compare import Reference, compare_output, cosine, null_kernel, relative_error
from v2kb.worker.harness.inputs import TensorSpec, Tolerance, Workload, find_workload, make_inputs
from v2kb.worker.harness.shift import rolled
from v2kb.worker.harness.tensorfile import DTYPES, BadTensorFile, read_tensors, write_tensors
from v2kb.worker.harness.watch import CappedLog

from .conftest import rms_norm_contract

BARS = Tolerance(0.999, 0.03)


def spec(dtype=torch.float32, shape=(4,), name="y"):
    return TensorSpec(name, shape, dtype, "activation", "row_major", False)


def reference(values, double=None):
    single = torch.tensor(values)
    return Reference({"y": single}, {"y": single.double() if double is None else torch.tensor(double).double()})


def test_cosine_and_rel_max_by_hand():
    a, b = torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0])
    assert cosine(a, b) == pytest.approx(24 / 25)
    assert relative_error(a, b) == pytest.approx(1 / 4)
    assert cosine(a, -a) == pytest.approx(-1)


@pytest.mark.parametrize("scale", [1e-38, 1e-300, 1e300, 1.0])
def test_scale_does_not_break_the_cosine(scale):
    a = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64) * scale
    assert cosine(a, 2 * a if scale < 1e300 else a / 2) == pytest.approx(1)


def test_zeros_and_empty_tensors():
    zero, one, empty = torch.zeros(3), torch.ones(3), torch.empty(0)
    assert cosine(zero, zero) == 1
    assert cosine(zero, one) == cosine(one, zero) == 0
    assert relative_error(zero, zero) == 0
    assert relative_error(one, zero) == math.inf
    assert cosine(empty, empty) == 1
    assert relative_error(empty, empty) == 0
    result, reason = compare_output(one, spec(shape=(3,)), reference([0.0, 0.0, 0.0]), BARS)
    assert result.rel_max is None
    assert reason, "an infinite error is null in the message, and fails"


def test_a_candidate_nearer_to_fp64_than_the_fp32_reference_passes():
    exact = [1.0, 2.0, 3.0, 4.0]
    poor = [1.0, 2.0, 3.0, 4.4]
    _, reason = compare_output(torch.tensor(exact), spec(), reference(poor, double=exact), BARS)
    assert reason == ""
    result, reason = compare_output(torch.tensor(poor), spec(), reference(exact), BARS)
    assert "rel_max 0.1" in reason
    assert result.rel_max == pytest.approx(0.1, rel=1e-5)


def test_whole_numbers_must_be_equal():
    expected = Reference({"y": torch.tensor([1000, 2, 3, 4])}, {"y": torch.tensor([1000, 2, 3, 4])})
    assert compare_output(torch.tensor([1000, 2, 3, 4]), spec(torch.int64), expected, BARS)[1] == ""
    assert "equal" in compare_output(torch.tensor([1000, 2, 3, 5]), spec(torch.int64), expected, BARS)[1]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_inf_are_counted_and_fail(bad):
    result, reason = compare_output(torch.tensor([1.0, bad, bad, 4.0]), spec(), reference([1.0, 2.0, 3.0, 4.0]), BARS)
    assert result.nan_count == 2
    assert result.cos is None
    assert "2 NaN or Inf" in reason


def test_null_kernels_are_found_by_name():
    work = find_workload(rms_norm_contract(), "small")
    one, other = make_inputs(work, "s" * 16, 1), make_inputs(work, "s" * 16, 2)

    def answers(function):
        return [Reference({"y": function(i)}, {"y": function(i).double()}) for i in (one, other)]

    assert null_kernel(work, one, *answers(lambda i: i["x"].float() * 0)) == "all zeros"
    assert null_kernel(work, one, *answers(lambda i: i["x"].float() * 0 + 2)) == "a constant"
    assert null_kernel(work, one, *answers(lambda i: i["x"].float())) == "a copy of x"
    fixed = torch.randn(64, 256)
    assert null_kernel(work, one, *answers(lambda i: fixed)) == "the answer for other inputs"
    assert null_kernel(work, one, *answers(lambda i: i["x"].float().abs())) == ""


def test_two_outputs_must_both_be_passed_by_the_null_kernel():
    work = Workload("w", "random", (spec(name="x"),), (spec(name="y"), spec(name="z")), BARS)
    values = {"y": torch.zeros(4), "z": torch.tensor([1.0, -2.0, 3.0, -4.0])}
    stale = {"y": torch.zeros(4), "z": torch.tensor([5.0, 1.0, 1.0, 1.0])}
    inputs = {"x": torch.tensor([9.0, 9.0, 1.0, 1.0])}
    assert null_kernel(work, inputs, Reference(values, values), Reference(stale, stale)) == ""


@pytest.mark.parametrize("name", sorted(DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (2, 3)])
def test_every_dtype_and_shape_survives_the_file(tmp_path, name, shape):
    tensor = (torch.randn(shape) * 3).to(DTYPES[name])
    write_tensors(tmp_path / "t", {"a": tensor, "b": tensor})
    back = read_tensors(tmp_path / "t", 10_000)
    assert list(back) == ["a", "b"]
    for found in back.values():
        assert found.dtype == tensor.dtype
        assert found.shape == tensor.shape
        assert tensorfile.tensor_bytes(found) == tensorfile.tensor_bytes(tensor)


def header(text, magic=tensorfile.MAGIC):
    return magic + struct.pack("<I", len(text)) + text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"V2KBTEN1",
        header(b'{"tensors": []}', magic=b"PICKLE!!"),
        tensorfile.MAGIC + struct.pack("<I", 2**31),
        header(b"not json"),
        header(b"[" * 100_000),
        header(b'{"tensors": 5}'),
        header(b'{"tensors": [{"name": "y", "dtype": "object", "shape": [1]}]}') + b"\0" * 8,
        header(b'{"tensors": [{"name": "y", "dtype": "float32", "shape": [2]}]}') + b"\0" * 4,
        header(b'{"tensors": [{"name": "y", "dtype": "float32", "shape": [-1]}]}') + b"\0" * 4,
        header(b'{"tensors": [{"name": "y", "dtype": "float32", "shape": [true]}]}') + b"\0" * 4,
        header(b'{"tensors": [{"name": "y", "dtype": "float32", "shape": [1]}]}') + b"\0" * 5,
        header(b'{"tensors": [{"name": "y", "dtype": "float32", "shape": [1099511627775, 1099511627775]}]}'),
        header(b'{"tensors": [{"name": 1, "dtype": "float32", "shape": []}]}') + b"\0" * 4,
    ],
)
def test_a_file_that_is_no_tensor_file_is_refused(tmp_path, data):
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(BadTensorFile):
        read_tensors(tmp_path / "t", 10**7)


def test_links_pipes_and_large_files_are_refused_at_once(tmp_path):
    write_tensors(tmp_path / "good", {"y": torch.ones(100)})
    (tmp_path / "link").symlink_to(tmp_path / "good")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("link", "pipe", "folder"):
        with pytest.raises(BadTensorFile):
            read_tensors(tmp_path / name, 10_000)
    with pytest.raises(BadTensorFile, match="allowed"):
        read_tensors(tmp_path / "good", 100)


@given(st.binary(max_size=300))
def test_no_bytes_crash_the_reader(data):
    path = f"/dev/shm/v2kb-test-{os.getpid()}"
    for content in (data, header(data)):
        with open(path, "wb") as file:
            file.write(content)
        try:
            read_tensors(tensorfile.Path(path), 10_000)
        except BadTensorFile:
            pass
        finally:
            os.unlink(path)


@pytest.mark.parametrize("name", sorted(DTYPES))
def test_rolling_keeps_the_elements_and_makes_a_new_tensor(name):
    tensor = torch.arange(12).reshape(3, 4).to(DTYPES[name])
    moved = rolled(tensor, 5)
    assert moved.data_ptr() != tensor.data_ptr()
    assert moved.shape == tensor.shape
    expected = tensor.reshape(-1).double().tolist()
    assert moved.reshape(-1).double().tolist() == expected[-5:] + expected[:-5]


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(2, 60))
def test_a_capped_log_has_head_tail_and_the_count_of_the_rest(pieces, limit):
    sent = []
    log = CappedLog(limit, sent.append)
    for piece in pieces:
        log.write(piece.replace(b"\n", b"x"))
    log.close()
    whole = b"".join(pieces).replace(b"\n", b"x")
    text = "".join(sent)
    if whole.isascii():
        if len(whole) <= limit:
            assert text == whole.decode()
        else:
            head, tail = whole[: limit // 2].decode(), whole[len(whole) - (limit - limit // 2) :].decode()
            assert text == f"{head}\n[... {len(whole) - limit} bytes left out ...]\n{tail}"


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        ([(5, 9)], 4),
        ([(0, 4), (10, 12)], 6),
        ([(10, 12), (0, 4), (2, 6)], 8),
        ([(0, 100), (10, 20), (30, 40)], 100),
        ([(0, 5), (5, 9), (5, 7)], 9),
    ],
)
def test_device_time_counts_shared_time_once_and_gaps_never(intervals, expected):
    assert timers.union_ns(intervals) == expected


class _Event:
    def __init__(self, name, start, end, device=True):
        self.values = name, start, end, device

    def name(self):
        return self.values[0]

    def start_ns(self):
        return self.values[1]

    def end_ns(self):
        return self.values[2]

    def device_type(self):
        return torch.autograd.DeviceType.CUDA if self.values[3] else torch.autograd.DeviceType.CPU


class _Profile:
    """Looks like a finished torch profile."""

    def __init__(self, events):
        self.profiler = self.kineto_results = self
        self.found = events

    def events(self):
        return self.found


def test_kernels_go_to_the_call_that_launched_them_and_the_flush_to_none():
    events = [
        _Event("flush", 0, 90), _Event("v2kb call 0", 100, 200, device=False), _Event("v2kb call 0", 110, 180),
        _Event("a", 110, 120), _Event("b", 150, 180), _Event("other stream", 115, 125),
        _Event("flush", 210, 290), _Event("v2kb call 1", 300, 400, device=False), _Event("a", 320, 327),
    ]  # fmt: skip
    assert timers.device_spans(_Profile(events), 2) == [45, 7]
    assert timers.device_spans(_Profile(events), 3) is None, "a call without kernels has no device time"
