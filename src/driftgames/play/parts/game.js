// The game: losses push chips, and the player weighs them. [LS14, Alg. 3]
//
// A setup is { player, n, horizon, rank }: the name of the potential, N, T and k; the regret is to
// the k-th best chip, so epsilon = k / N. A game is a setup and the losses of every round so far.
// All else follows from them.

const LIMITS = { n: [2, 12], horizon: [5, 60] };

/** Return the states after 0, 1, ... rounds of a game. */
function replay(setup, rounds) {
  const potential = potentialOf(setup);
  const states = [startOf(setup, potential)];
  for (const losses of rounds) states.push(nextState(setup, potential, states.at(-1), losses));
  return states;
}

/** Return the potential of a setup; the last one is kept, because minimax takes a while. */
function potentialOf(setup) {
  const key = [setup.player, setup.horizon, setup.rank / setup.n].join();
  if (potentialOf.key !== key) {
    potentialOf.kept = makePotential(setup.player, setup.horizon, setup.rank / setup.n);
    potentialOf.key = key;
  }
  return potentialOf.kept;
}

function startOf(setup, potential) {
  return describe(setup, potential, 0, new Array(setup.n).fill(0), 0);
}

/** Return the state one round later: s_i moves by l_i - p.l. [LS14, Alg. 3] */
function nextState(setup, potential, state, losses) {
  const learnerLoss = state.learnerLoss + dot(state.p, losses);
  return describe(setup, potential, state.t + 1, positionsAfter(state, losses), learnerLoss);
}

/** Return where losses move the chips. [LS14, Alg. 2] */
function positionsAfter(state, losses) {
  const learnerLoss = dot(state.p, losses);
  return state.positions.map((s, i) => s + losses[i] - learnerLoss);
}

/** Return the sum of potentials after these losses. */
function sumAfter(potential, state, losses) {
  return potentialSum(potential, positionsAfter(state, losses), state.t + 1);
}

/** Return a state: positions, the next distribution p (null at the end), and what is promised. */
function describe(setup, potential, t, positions, learnerLoss) {
  return {
    t,
    positions,
    p: t < setup.horizon ? distribution(potential, positions, t + 1) : null,
    sum: potentialSum(potential, positions, t),
    regret: regretTo(setup.rank, positions),
    bound: potential.bound(t),
    learnerLoss,
  };
}

/** Return the regret to the k-th best chip: minus the k-th lowest position. [LS14, Sec. 3.1] */
function regretTo(rank, positions) {
  return 0 - [...positions].sort((a, b) => a - b)[rank - 1];
}

/** Return rounds of losses for n chips: further chips get the loss 0, surplus ones are dropped. */
function fitRounds(rounds, n, horizon) {
  const fit = (losses) => Array.from({ length: n }, (_, i) => losses[i] ?? 0);
  return rounds.slice(0, horizon).map(fit);
}
