"""What every layer leans on: checks that name the value and the rule, documents, progress.

Nothing here knows a potential, a game or a learner.
"""
