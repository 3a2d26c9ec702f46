"""What tasks are made of: the interface of benchmarks, items, questions, importing, layouts; rendering needs none."""
