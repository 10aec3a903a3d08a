// An adversary that looks to the end of the game, as `driftgames.games.LookaheadAdversary` does.
//
// It charges the losses after which coins would leave the largest regret:
//   max over l of  E max_i (-s_i - z_i + sqrt(T - t) / 2 * g_i),   z_i = l_i - p.l

const LOGISTIC_SLOPE = 1.702; // of the logistic function that is nearest to the normal distribution

/** Return losses of 0 and 1 with the largest regret to be expected at the end. */
function lookahead(setup, state) {
  const left = setup.horizon - state.t - 1;
  let [best, highest] = [null, -Infinity];
  for (let code = 0; code < 2 ** setup.n; code++) {
    const losses = state.positions.map((_, i) => (code >> (setup.n - 1 - i)) & 1);
    const regrets = positionsAfter(state, losses).map((s) => -s);
    const expected = expectedMaximum(regrets, left);
    if (expected > highest + 1e-12) [best, highest] = [losses, expected];
  }
  return best;
}

/** Return about the expected maximum of the regrets when ``left`` rounds of coins remain. */
function expectedMaximum(regrets, left) {
  const top = Math.max(...regrets);
  if (left === 0) return top;
  const sigma = Math.sqrt(left) / 2;
  let tail = 0;
  for (let node = -40; node <= 60; node += 2) {
    let share = 1;
    for (const regret of regrets) {
      const apart = (top + (node / 10) * sigma - regret) / sigma;
      share /= 1 + Math.exp(-LOGISTIC_SLOPE * apart);
    }
    tail += (node > 0 ? 1 : node < 0 ? 0 : 0.5) - share;
  }
  return top + 0.2 * sigma * tail;
}

ADVERSARIES.lookahead = { title: "Lookahead (strong)", losses: lookahead };
