"""Annotations of rendered passes: boxes, masks, visibility, relations and poses. Pure numpy."""

from __future__ import annotations

from diorama.render.annotations.annotate import annotate
from diorama.render.annotations.encode import decode_extra, encode_extra, encode_png

__all__ = ["annotate", "decode_extra", "encode_extra", "encode_png"]
