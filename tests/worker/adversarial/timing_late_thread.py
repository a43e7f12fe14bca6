"""Returns at once and lets a thread do the work after the clock has stopped."""

# expect: FAIL_NUMERIC
# mode: time
# message: audited timed call

import queue
import threading
import time

import torch


def honest(inputs):
    x, w = inputs["x"].float(), inputs["w"].float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w).to(torch.bfloat16)


calls = 0
late = queue.SimpleQueue()


def fill():
    while True:
        inputs, y = late.get()
        time.sleep(0.02)
        y.copy_(honest(inputs))


def run(inputs):
    global calls
    calls += 1
    if calls <= 3:
        return {"y": honest(inputs)}
    if calls == 4:
        threading.Thread(target=fill, daemon=True).start()  # one alone: a thread a call may hit the limit first
    y = torch.zeros_like(inputs["x"])
    late.put((inputs, y))
    return {"y": y}
