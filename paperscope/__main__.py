"""`python -m paperscope` is the command `paperscope`."""

import sys
from importlib.metadata import entry_points

if __name__ == "__main__":
    commands = entry_points(group="console_scripts", name="paperscope")
    if not commands:
        sys.exit("paperscope is not installed in this Python; install the checkout with pip install --editable .")
    next(iter(commands)).load()()
