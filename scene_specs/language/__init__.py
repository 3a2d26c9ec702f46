"""Words of specs: vocabulary, names of models and shapes, plug-in registry, diagnostics and random keys."""
