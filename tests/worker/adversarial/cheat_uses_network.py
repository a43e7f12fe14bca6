"""Raises only if it can reach anything over the network."""

# expect: PASS
# mode: fenced

import errno
import socket

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


def run(inputs):
    for address in (("127.0.0.1", 22), ("127.0.0.1", 8000), ("10.0.0.1", 80)):
        with socket.socket() as probe:
            probe.settimeout(0.3)
            try:
                probe.connect(address)
            except OSError as error:
                if error.errno not in (errno.ENETUNREACH, errno.ECONNREFUSED, errno.ENETDOWN):
                    raise RuntimeError(f"a network is there: {error}") from error
            else:
                raise RuntimeError("reached the network")
    if any(name != "lo" for _, name in socket.if_nameindex()):
        raise RuntimeError("an interface is there")
    return {"y": honest(inputs)}
