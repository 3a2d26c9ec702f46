"""Benchmarks, one folder each: generators, verifiers, readers and reports. Nothing here imports `render`."""
