import pytest

from v2kb.rules.grades import METHODS, SELF_TIMED
from v2kb.worker.harness import timers


@pytest.mark.parametrize("method", [timers.CPU_METHOD, timers.CUPTI_METHOD, timers.EVENT_METHOD])
def test_the_rules_know_every_method_that_the_harness_reports(method):
    assert method.endswith(SELF_TIMED)
    assert method.removesuffix(SELF_TIMED) in METHODS
