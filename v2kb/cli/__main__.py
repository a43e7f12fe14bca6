"""`python -m v2kb.cli`: the command where it is not installed."""

import sys

from v2kb.cli.main import main

sys.exit(main())
