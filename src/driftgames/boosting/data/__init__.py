"""What comes in: frames and weights become cuts, bins and hashes of rows.

A booster sees neither strings nor floats. It sees bins: one byte for each value. This package makes
them, and ranks rows by their contents alone: folds are made of these ranks.
"""

MOST_BINS = 255
"""The largest number of bins of known values: one byte also holds the bin of missing values."""
