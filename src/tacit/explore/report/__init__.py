"""The page that says what was found: its data, its sentences and how they are put together."""
