"""The spec language: models of a spec, its vocabulary and stages, strict JSON, diagnostics and random keys."""
