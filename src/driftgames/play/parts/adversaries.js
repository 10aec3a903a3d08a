// Who charges the losses, when it is not the person.
//
// An adversary is a function of (setup, state, marks) that returns one loss in [0, 1] per chip.

const COIN_GAP = 0.1; // the first chip loses less often by this chance

const ADVERSARIES = {
  you: { title: "You", losses: (setup, state, marks) => [...marks] },
  coins: { title: "Coin flips", losses: coinFlips },
  greedy: { title: "Greedy", losses: (setup, state) => greedy(setup, state) },
};

/** Add the stored adversaries, each { title, rounds } with one text of digits 0 and 1 a round. */
function addStoredAdversaries(stored) {
  for (const [name, { title, rounds }] of Object.entries(stored)) {
    ADVERSARIES[name] = {
      title,
      losses: (setup, state) => [...rounds[state.t].slice(0, setup.n)].map(Number),
    };
  }
}

/** Losses are coin flips; the coin of the first chip shows a loss less often. */
function coinFlips(setup, state) {
  const draw = randomNumbers(1000 * setup.n + state.t);
  return state.positions.map((_, i) => (draw() < (i === 0 ? 0.5 - COIN_GAP : 0.5) ? 1 : 0));
}

/**
 * Return losses of 0 and 1 with the largest next sum of potentials.
 *
 * The sum is convex in the losses, so its maximum is at such a corner. All 2^N are tried; the
 * first of equals is taken.
 */
function greedy(setup, state) {
  const potential = potentialOf(setup);
  let [best, highest] = [null, -Infinity];
  for (let code = 0; code < 2 ** setup.n; code++) {
    const losses = state.positions.map((_, i) => (code >> (setup.n - 1 - i)) & 1);
    const reached = sumAfter(potential, state, losses);
    if (reached > highest + 1e-12 * Math.abs(highest) || best === null) {
      [best, highest] = [losses, reached];
    }
  }
  return best;
}
