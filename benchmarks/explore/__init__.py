"""The explorer, end to end."""
