"""The ways in: command line, HTTP service, batches of questions, and the background jobs behind them."""
