"""What is done with a store, or to debug it; rendering needs none of these packages."""
