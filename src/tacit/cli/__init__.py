"""The command line: one file per verb, each loaded when it is called."""
