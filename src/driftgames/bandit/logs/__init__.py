"""Pulls on record: a log with propensities, and what follows from one.

`off_policy` says what another policy would have lost, and `arm_race` says which arms may still be
the best. Both hold with confidence at any time.
"""
