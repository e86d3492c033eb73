"""Look-ups in gold tables, put as questions to the whole product."""
