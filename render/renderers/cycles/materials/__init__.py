"""Materials of the Cycles renderer, one file each; see scene_specs/model/materials.py."""
