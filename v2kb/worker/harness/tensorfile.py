"""Tensors in a file: magic, header length, JSON header, raw bytes. Read without executing anything that a child wrote.

Layout: 8 bytes `V2KBTEN1`, 4 bytes little-endian header length, the header
`{"tensors": [{"name": str, "dtype": str, "shape": [int]}]}`, then the tensors' bytes, row-major, one after another.
"""

import json
import math
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import torch

MAGIC = b"V2KBTEN1"
MAX_HEADER_BYTES = 1024 * 1024
MAX_TENSORS = 256
MAX_DIMENSIONS = 16

DTYPES: dict[str, torch.dtype] = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float8_e4m3fn": torch.float8_e4m3fn,
    "float8_e5m2": torch.float8_e5m2,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "bool": torch.bool,
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class BadTensorFile(ValueError):
    """The file is not in this format, is too large, or is no plain file. The text says which."""


def tensor_bytes(tensor: torch.Tensor) -> bytes:
    """Return the row-major bytes of a strided tensor on any device."""
    flat = tensor.detach().to("cpu").contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write named tensors. Raises KeyError for a dtype that the format does not know."""
    entries = [
        {"name": name, "dtype": DTYPE_NAMES[tensor.dtype], "shape": list(tensor.shape)}
        for name, tensor in tensors.items()
    ]
    header = json.dumps({"tensors": entries}).encode()
    with open(path, "wb") as file:
        file.write(MAGIC + len(header).to_bytes(4, "little") + header)
        for tensor in tensors.values():
            file.write(tensor_bytes(tensor))


def read_tensors(path: Path, max_bytes: int) -> dict[str, torch.Tensor]:
    """Read a file that anyone may have written. Raises BadTensorFile; FileNotFoundError when there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BadTensorFile(f"{path.name} can't be opened: {error.strerror}") from error
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise BadTensorFile(f"{path.name} is no plain file")
    with open(descriptor, "rb") as file:
        if facts.st_size > max_bytes:
            raise BadTensorFile(f"{path.name} has {facts.st_size} bytes; {max_bytes} are allowed")
        data = bytearray(facts.st_size)
        if file.readinto(data) != len(data):
            raise BadTensorFile(f"{path.name} changed while it was read")
    return _parse(data, path.name)


def _parse(data: bytearray, name: str) -> dict[str, torch.Tensor]:
    entries, position = _header(data, name)
    tensors: dict[str, torch.Tensor] = {}
    for entry in entries:
        dtype, shape = _entry(entry, name)
        if entry["name"] in tensors:
            raise BadTensorFile(f"{name} holds {entry['name'][:40]!r} twice")
        size = math.prod(shape) * dtype.itemsize
        if position + size > len(data):
            raise BadTensorFile(f"{name} ends before the bytes of {entry['name'][:40]!r}")
        raw = torch.frombuffer(data, dtype=torch.uint8, count=size, offset=position) if size else torch.empty(0)
        tensors[entry["name"]] = raw.clone().view(dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)
        position += size
    if position != len(data):
        raise BadTensorFile(f"{name} has {len(data) - position} bytes more than its header says")
    return tensors


def _header(data: bytearray, name: str) -> tuple[list[dict], int]:
    if data[:8] != MAGIC or len(data) < 12:
        raise BadTensorFile(f"{name} does not begin as a tensor file")
    length = int.from_bytes(data[8:12], "little")
    if length > MAX_HEADER_BYTES or 12 + length > len(data):
        raise BadTensorFile(f"{name} has a header of impossible length")
    try:
        entries = json.loads(bytes(data[12 : 12 + length]))["tensors"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadTensorFile(f"{name} has an unreadable header") from error
    if not isinstance(entries, list) or len(entries) > MAX_TENSORS:
        raise BadTensorFile(f"{name} must list at most {MAX_TENSORS} tensors")
    return entries, 12 + length


def _entry(entry: object, name: str) -> tuple[torch.dtype, list[int]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise BadTensorFile(f"{name} has a tensor without a name")
    dtype, shape = entry.get("dtype"), entry.get("shape")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise BadTensorFile(f"{name} has a tensor of unknown dtype")
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise BadTensorFile(f"{name} has a tensor without a shape")
    if not all(type(size) is int and 0 <= size < 2**40 for size in shape):
        raise BadTensorFile(f"{name} has a tensor with an impossible shape")
    return DTYPES[dtype], shape
