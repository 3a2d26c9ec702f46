"""Renderers: Cycles, a fake one for tests, a caching wrapper, and the factory that creates them by name."""
