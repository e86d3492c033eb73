"""The ways in: command line, HTTP, batches of questions, and the jobs behind them."""
