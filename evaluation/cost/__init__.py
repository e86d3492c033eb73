"""What adding papers and asking questions takes: calls, tokens, money, time."""
