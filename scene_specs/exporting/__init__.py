"""Export formats of benchmarks."""
