"""The Lance implementation of the dataset store."""
