"""Grounds of looks, one file each: as materials, but without a color of their own object."""
