"""The server behind ``tacit serve``: the report of a project, live, for who sits there."""
