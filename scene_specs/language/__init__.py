"""The spec language: models, vocabulary, stages, strict JSON, diagnostics and random keys."""
