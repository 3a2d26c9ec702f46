"""CLEVR (Johnson et al., CVPR 2017): random scenes by its placement rules."""
