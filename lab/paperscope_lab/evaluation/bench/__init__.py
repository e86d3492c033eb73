"""Benchmarks of Paperscope and other systems: `scripts/bench COMMAND`."""

import argparse
import sys
from collections.abc import Sequence

from paperscope_core.errors import PaperscopeError
from paperscope_core.text.escaping import terminal_text
from paperscope_lab.evaluation.bench import growth, latency, names, parse, peers, quality, serve

__all__ = ["main"]

_COMMANDS = {
    "parse": parse,
    "quality": quality,
    "graph": growth,
    "query": latency,
    "serve": serve,
    "names": names,
    "peers": peers,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, or that of the error."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Compare Paperscope with other systems.")
    commands = parser.add_subparsers(required=True)
    for name, module in _COMMANDS.items():
        command = commands.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        module.add_options(command)
        command.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except PaperscopeError as error:
        sys.stderr.write(terminal_text(f"error: {error}\n"))
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("stopped: what is finished is kept; run the same command again to continue\n")
        return 130
