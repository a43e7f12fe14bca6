"""The run worker: takes run messages, measures kernels in sandboxed child processes, reports facts over HTTP."""
