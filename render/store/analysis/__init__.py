"""Statistics, rankings and comparisons of whole stores."""
