// AdaBoost on the same points, and what Theorem 3 promises of NH-Boost.DT.

/** Return the states of AdaBoost after 0, 1, ... rounds: its error and its margins. */
function adaBoost(points, nRounds) {
  const columns = FEATURES.map((name) => sortColumn(points, name));
  let scores = points.map(() => 0);
  let total = 0;
  const states = [{ t: 0, error: 0, margins: scores }];
  for (let t = 1; t <= nRounds; t++) {
    const low = Math.min(...scores.map((score, i) => points[i].label * score));
    const weights = points.map((point, i) => Math.exp(low - point.label * scores[i]));
    const stump = bestStump(points, columns, wholeWeights(weights));
    if (stump === null) break;
    const edge = Math.min(stump.edge, 0.5 - 1e-9); // a perfect stump would have an infinite vote
    const alpha = 0.5 * Math.log((0.5 + edge) / (0.5 - edge));
    total += alpha;
    scores = scores.map((score, i) => score + alpha * vote(stump, points[i]));
    const wrong = points.filter((point, i) => point.label * scores[i] <= 0).length;
    const margins = points.map((point, i) => (point.label * scores[i]) / total);
    states.push({ t, error: wrong / points.length, margins });
    if (stump.edge >= 0.5) break;
  }
  return states;
}

/** Return AdaBoost's state after t rounds; a run that ended keeps its last. */
function adaState(points, t) {
  if (adaState.points !== points) {
    const classes = new Set(points.map((point) => point.label)).size;
    adaState.kept = classes === 2 ? adaBoost(points, ROUNDS_AT_MOST) : [];
    adaState.points = points;
  }
  return adaState.kept[Math.min(t, adaState.kept.length - 1)] ?? null;
}

/**
 * Return the promise of Theorem 3 as steps [theta, share]: at most this share of the examples has
 * a margin of at most theta.
 *
 *   theta < 2 (mean edge - Reg^{j/N} / T)  implies  #{margin <= theta} <= j - 1
 */
function theorem3(n, stumps) {
  const T = stumps.length;
  const mean = sum(stumps.map((stump) => stump.edge)) / T;
  const steps = [];
  for (let j = 1; j <= n; j++) {
    const regret = normalHedgeDT(T, j / n).bound(T);
    steps.push([clamp(2 * (mean - regret / T), -1, 1), (j - 1) / n]);
  }
  return steps; // theta rises with j
}
