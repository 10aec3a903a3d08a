"""Engines draw arms and learn from losses in compiled code; they know no names, units or files.

`engine` is the interface and the compiled loop over rounds. Each other engine has the weights of
one policy. All keep the same clock and take their uniform numbers from NumPy's generator, one at a
time.
"""
