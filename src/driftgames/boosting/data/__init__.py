"""What comes in: frames and weights become cuts, bins and hashes of rows.

A booster sees neither strings nor floats. It sees bins: one byte for each value. This room makes
them, and says which rows are held out, by the contents of rows alone.
"""
