"""What this machine has: a series of Blender, devices, scratch space."""
