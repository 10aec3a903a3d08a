// NH-Boost.DT with decision stumps on points of the plane. [LS14, Alg. 6]
//
// A point is { x, y, label } with whole coordinates and a label of -1 or +1. Examples are chips:
//   s_i moves by y_i h(x_i) / 2 - gamma,   gamma = sum_i p_i y_i h(x_i) / 2
// With one vote per round a chip's position depends on its number of mistakes k alone:
//   s = t / 2 - k - sum of edges

const FEATURES = ["x", "y"];
const SUM_BITS = 61; // whole weights add up to just below 2^61

/** Play at most `nRounds` rounds. Return the states after 0, 1, ... rounds and the stumps. */
function boost(points, nRounds) {
  // the horizon and epsilon change only the bound, which is not used here
  const potential = normalHedgeDT(nRounds + 1, 1);
  const columns = FEATURES.map((name) => sortColumn(points, name));
  let mistakes = points.map(() => 0);
  let edgeSum = 0;
  const [states, stumps] = [[appraise(points, potential, 0, mistakes, edgeSum)], []];
  while (stumps.length < nRounds) {
    const stump = bestStump(points, columns, wholeWeights(states.at(-1).weights));
    if (stump === null) break; // no stump has an edge
    stumps.push(stump);
    edgeSum += stump.edge;
    mistakes = points.map((point, i) => mistakes[i] + (vote(stump, point) === point.label ? 0 : 1));
    states.push(appraise(points, potential, stumps.length, mistakes, edgeSum));
  }
  return { states, stumps };
}

/** Return what a stump votes on a point. */
function vote(stump, point) {
  return point[FEATURES[stump.feature]] <= stump.threshold ? stump.leftVote : -stump.leftVote;
}

/** Return what the examples weigh after t rounds, and how the vote stands. */
function appraise(points, potential, t, mistakes, edgeSum) {
  const positions = mistakes.map((k) => t / 2 - edgeSum - k);
  const weights = points.length > 0 ? weigh(potential, positions, t + 1) : [];
  const someWeight = sum(weights) > 0; // if all weigh zero, all are played alike
  const zeros = someWeight ? weights.filter((w) => w === 0).length : 0;
  const wrong = points.filter((point, i) => isWrong(point.label, mistakes[i], t));
  return {
    t,
    mistakes,
    positions,
    weights: someWeight ? weights : weights.map(() => 1),
    p: normalise(weights),
    margins: mistakes.map((k) => (t > 0 ? (t - 2 * k) / t : 0)),
    zeroShare: zeros / Math.max(points.length, 1),
    error: wrong.length / Math.max(points.length, 1),
  };
}

/** Return whether the vote gets an example wrong; a tied vote is for -1. */
function isWrong(label, k, t) {
  return label > 0 ? 2 * k >= t : 2 * k > t;
}

/** Return the weights as whole numbers, so that sums are exact and ties are true ties. */
function wholeWeights(weights) {
  const exponent = Math.floor(Math.log2(sum(weights))) + 1;
  return weights.map((w) => BigInt(Math.round(w * 2 ** (SUM_BITS - exponent))));
}

/** Return the examples in order of a feature, in groups of equal value. */
function sortColumn(points, name) {
  const values = [...new Set(points.map((point) => point[name]))].sort((a, b) => a - b);
  return values.map((value) => ({
    value,
    members: points.flatMap((point, i) => (point[name] === value ? [i] : [])),
  }));
}

/**
 * Return the stump of largest edge, or null if none has an edge.
 *
 * Thresholds lie midway between neighbours. Ties go to the lowest feature, then to the lowest
 * threshold; a vote that makes no difference is +1 on the left.
 */
function bestStump(points, columns, weights) {
  const signed = weights.map((w, i) => (points[i].label > 0 ? w : -w));
  const total = signed.reduce((a, b) => a + b, 0n);
  let best = { value: 0n };
  columns.forEach((groups, feature) => {
    let left = 0n;
    for (let g = 0; g + 1 < groups.length; g++) {
      for (const i of groups[g].members) left += signed[i];
      const balance = 2n * left - total;
      const value = balance < 0n ? -balance : balance;
      if (value > best.value) {
        const threshold = groups[g].value / 2 + groups[g + 1].value / 2;
        best = { value, feature, threshold, leftVote: balance >= 0n ? 1 : -1 };
      }
    }
  });
  if (best.value === 0n) return null;
  const norm = weights.reduce((a, b) => a + b, 0n);
  const { feature, threshold, leftVote } = best;
  return { feature, threshold, leftVote, edge: Number(best.value) / Number(2n * norm) };
}
