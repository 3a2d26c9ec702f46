"""Statistics, rankings and comparisons of complete stores."""
