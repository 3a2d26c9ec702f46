"""Write golden files and archives for the compatibility tests.

    python -m tools compatibility golden | archive

golden: identities of examples and benchmarks, and field names, in tests/compatibility/golden. Written once, by the
version whose identities later versions must keep. archive: specs, the store rendered from them, exports, a gallery and
an ICCA transcript of this version as one file. Each version may add an archive.
"""

from __future__ import annotations

from tests.compatibility.making import add_options, main

__all__ = ["add_options", "main"]
