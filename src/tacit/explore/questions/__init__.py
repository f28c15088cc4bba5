"""Questions to a project, one file each; ``tacit.explore.ask`` has their public names."""
