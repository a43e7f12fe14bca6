"""Wrong: imports a module that is not there."""

# expect: COMPILE_ERROR
# mode: check
# message: no_such_module_at_all

import no_such_module_at_all


def run(inputs):
    return {}
