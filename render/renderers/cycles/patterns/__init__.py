"""Patterns of looks on objects, one file each: `build` returns a color in shades of the object's own."""
