"""A project: its folder and record, the stages that fill it, the plan, the labels."""
