"""What comes out: weak hypotheses, their votes, and what predicts with them."""
