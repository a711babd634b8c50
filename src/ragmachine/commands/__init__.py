"""The command line: a grammar, a table of every option, and what each subcommand does."""
