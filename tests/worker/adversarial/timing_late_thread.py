"""Returns at once and lets a thread do the work after the clock has stopped."""

# expect: FAIL_NUMERIC
# mode: time
# message: audited timed call

import threading
import time

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


calls = 0


def fill(inputs, y):
    time.sleep(0.02)
    y.copy_(honest(inputs))


def run(inputs):
    global calls
    calls += 1
    if calls <= 3:
        return {"y": honest(inputs)}
    y = torch.zeros_like(inputs["x"])
    threading.Thread(target=fill, args=(inputs, y)).start()
    return {"y": y}
