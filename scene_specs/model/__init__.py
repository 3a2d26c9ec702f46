"""What an episode is made of: spec, Scene, record, passes, the truth of benchmarks. Typed, and parsed once."""
