"""A page to play with: a person is the adversary of a drifting game, or draws points to boost.

`page` returns one HTML file that needs no network. Its arithmetic is plain JavaScript, in
``parts``. The page replays games and a fit of this library and shows the largest difference.
"""

from driftgames.play.assembly import page, write_page

__all__ = ["page", "write_page"]
