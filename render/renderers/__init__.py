"""Renderers: Cycles, a fake one for tests, and a caching wrapper."""
