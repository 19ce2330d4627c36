"""``python -m ringmill``: the command line."""

from ringmill.cli import main

raise SystemExit(main())
