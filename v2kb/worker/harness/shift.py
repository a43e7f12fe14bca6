"""New contents for every timed call from a small pool, made the same way by the child and by the parent."""

import torch

_SAME_SIZE = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def rolled(tensor: torch.Tensor, places: int) -> torch.Tensor:
    """Return the tensor's elements, flattened, moved on by `places` round the end: a new tensor of the same shape."""
    if not tensor.numel():
        return tensor.clone()
    plain = tensor.reshape(-1).view(_SAME_SIZE[tensor.dtype.itemsize])
    return torch.roll(plain, places).view(tensor.dtype).reshape(tensor.shape)
