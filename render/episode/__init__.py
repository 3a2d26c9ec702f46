"""Work on a single episode: find it, edit it, render it again, compare it and replace it."""
