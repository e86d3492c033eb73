"""The user interfaces: command line, HTTP service, batches of questions, and the background jobs behind them."""
