"""Intervals around forecasts: their level follows what was covered so far.

A level is learnt like a forecast, by the pinball loss, and step sizes are experts.
`AdaptiveIntervals` has one level for both sides, `SignedIntervals` has one for each.
"""
