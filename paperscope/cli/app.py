"""Which commands there are, and how errors end them. Results go to stdout, progress and errors to stderr."""

import sys

import typer
from rich.text import Text

from paperscope.cli.configuring import show_config
from paperscope.cli.display import stderr
from paperscope.cli.evaluating import eval_app
from paperscope.cli.keys import keys_app
from paperscope.cli.papers import add, papers, parse, remove, show
from paperscope.cli.questions import ask, batch, graph
from paperscope.cli.serving import serve
from paperscope.errors import BudgetError, PaperscopeError

__all__ = ["app", "main"]

# What typer exits with after Ctrl-C: 128 and the number of SIGINT.
_STOPPED = 130

app = typer.Typer(
    help="Ask your papers a question, get an answer that you can check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _command in (add, parse, papers, ask, batch, show, graph, remove, serve):
    app.command()(_command)
app.command(name="config")(show_config)
app.add_typer(eval_app, name="eval")
app.add_typer(keys_app, name="keys")


def main() -> None:
    """Run the command line; one clear message and an exit code for every error that we know."""
    try:
        app()
    except PaperscopeError as error:
        head = "stopped" if isinstance(error, BudgetError) else "error"
        stderr().print(Text(f"{head}: {error}", style="red"))
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == _STOPPED:
            stderr().print("stopped: what is finished is kept; run the same command again to go on")
        raise
