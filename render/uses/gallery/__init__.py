"""Pictures for people: what was made, with its truth drawn over it. No Blender, no Ray."""
