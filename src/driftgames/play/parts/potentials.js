// The potentials: what a chip at position s costs after round t. [LS14, Sec. 3.3]
//
// A potential has
//   value(s, t)               Phi_t(s), without factors that all chips share
//   exponent(s, t)            the logarithm of the largest term in the weight of a chip
//   weight(s, t, logScale)    (Phi_t(s - 1) - Phi_t(s + 1)) / 2 * exp(-logScale)
//   bound(t)                  the bound on the epsilon-regret after t rounds [LS14, Thm. 2]
// The formulas are those of `driftgames.potentials`.

/** [s]_- = min(s, 0) */
function below(s) {
  return Math.min(s, 0);
}

/** EXP: Phi_t(s) = cosh(eta)^(T - t) exp(-eta s), eta = sqrt(2 ln(1/epsilon) / T). */
function exponential(horizon, epsilon) {
  const eta = Math.sqrt((2 * Math.log(1 / epsilon)) / horizon);
  const logCosh =
    eta < 1
      ? Math.log1p(2 * Math.sinh(eta / 2) ** 2)
      : eta + Math.log1p(Math.exp(-2 * eta)) - Math.log(2);
  return {
    title: "EXP",
    value: (s, t) => Math.exp(-eta * s + (horizon - t) * logCosh),
    exponent: (s) => -eta * (s - 1),
    weight: (s, t, logScale) => -0.5 * Math.expm1(-2 * eta) * Math.exp(-eta * (s - 1) - logScale),
    bound: (t) => (Math.log(1 / epsilon) + t * logCosh) / eta,
  };
}

/** The 2-norm algorithm: Phi_t(s) = [s]_-^2 + T - t. [LS14, Lem. 1, Cor. 1] */
function twoNorm(horizon, epsilon) {
  return {
    title: "2-norm",
    value: (s, t) => below(s) ** 2 + horizon - t,
    exponent: () => 0,
    weight: (s) => {
      const [left, right] = [below(s - 1), below(s + 1)];
      return 0.5 * (left - right) * (left + right);
    },
    bound: (t) => Math.sqrt(t / epsilon),
  };
}

/**
 * NormalHedge.DT: Phi_t(s) = exp([s]_-^2 / 3t) - b_t. [LS14, Lem. 2, Cor. 2]
 *
 * A chip at s >= 1 weighs exactly zero. Phi_0 is the constant 1 - b_0.
 */
function normalHedgeDT(horizon, epsilon) {
  const oneLessB = sumsOfLemma2(horizon);
  const rate = (t) => (t > 0 ? 1 / (3 * t) : 0);
  return {
    title: "NormalHedge.DT",
    value: (s, t) => Math.expm1(below(s) ** 2 * rate(t)) + oneLessB[horizon] - oneLessB[t],
    exponent: (s, t) => below(s - 1) ** 2 * rate(t),
    weight: (s, t, logScale) => {
      const [left, right] = [below(s - 1), below(s + 1)];
      // exp(a) - exp(b) = -exp(a) expm1(b - a), and b - a by its factors: nothing cancels
      const narrowed = Math.expm1((right - left) * (right + left) * rate(t));
      return 0.5 * (0 - narrowed) * Math.exp(left * left * rate(t) - logScale);
    },
    bound: (t) => Math.sqrt(3 * t * Math.log1p(oneLessB[t] / epsilon)),
  };
}

/** Return sum_{tau <= t} (exp(4 / 3 tau) - 1) / 2 for t = 0, ..., T: the terms of 1 - b_0. */
function sumsOfLemma2(horizon) {
  const sums = [0];
  for (let t = 1; t <= horizon; t++) sums.push(sums[t - 1] + Math.expm1(4 / (3 * t)) / 2);
  return sums;
}

const POTENTIALS = {
  exp: exponential,
  "2-norm": twoNorm,
  "normalhedge.dt": normalHedgeDT,
  minimax: minimaxPotential,
};

/** Return the potential of this name for T rounds and for the epsilon-regret. */
function makePotential(name, horizon, epsilon) {
  return POTENTIALS[name](horizon, epsilon);
}

/** Return the weights of all chips in round t, the largest of them between 0 and 1/2. */
function weigh(potential, positions, t) {
  const logScale = potential.exponent(Math.min(...positions), t);
  return positions.map((s) => potential.weight(s, t, logScale));
}

/** Return the distribution that the player plays in round t. [LS14, Alg. 3] */
function distribution(potential, positions, t) {
  return normalise(weigh(potential, positions, t));
}

/** Return the sum of Phi_t over the chips, which never rises. [LS14, Eq. (2)] */
function potentialSum(potential, positions, t) {
  return sum(positions.map((s) => potential.value(s, t)));
}
