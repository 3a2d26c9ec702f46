"""The Cycles renderer: the only package that imports bpy."""
