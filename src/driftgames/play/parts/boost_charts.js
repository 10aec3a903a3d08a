// The charts of boosting: where the examples stand, their margins, and the rounds so far.

/** Draw how many examples of each class stand at each position, and the weight as a curve. */
function drawWeights(svg, points, state) {
  const low = Math.min(-2, ...state.positions) - 0.6;
  const high = Math.max(2, ...state.positions) + 0.6;
  const piles = pileUp(points, state);
  const most = Math.max(1, ...piles.map((pile) => pile.plus + pile.minus));
  const label = `Examples by position, ${percent(state.zeroShare)} of them ignored`;
  const chart = drawAxes(svg, {
    label,
    names: ["position s", "examples"],
    xs: [low, high],
    ys: [0, 1.15 * most],
    height: 152,
  });
  shade(chart, 1, high, "ignored");
  for (const pile of piles) drawPile(chart, pile);
  const potential = normalHedgeDT(state.t + 1, 1);
  const at = Array.from({ length: 121 }, (_, i) => low + ((high - low) * i) / 120);
  const logScale = potential.exponent(low, state.t + 1);
  const weights = at.map((s) => potential.weight(s, state.t + 1, logScale));
  drawLine(
    chart,
    at.map((s, i) => [s, (1.1 * most * weights[i]) / weights[0]]),
    "weight",
  );
}

/** Return the numbers of examples of each class by their number of mistakes. */
function pileUp(points, state) {
  const piles = new Map();
  points.forEach((point, i) => {
    const k = state.mistakes[i];
    const pile = piles.get(k) ?? {
      s: state.positions[i],
      ignored: state.p[i] === 0,
      plus: 0,
      minus: 0,
    };
    pile[point.label > 0 ? "plus" : "minus"]++;
    piles.set(k, pile);
  });
  return [...piles.values()];
}

function drawPile(chart, { s, ignored, plus, minus }) {
  const width = Math.min(0.7 * (chart.x(1) - chart.x(0)), 26);
  const bar = (from, to, name) => {
    const place = {
      x: chart.x(s) - width / 2,
      y: chart.y(to),
      width,
      height: chart.y(from) - chart.y(to),
    };
    if (to > from)
      chart.svg.append(
        shape("rect", { class: `pile ${name}${ignored ? " empty" : ""}`, ...place }),
      );
  };
  bar(0, plus, "mark-plus");
  bar(plus, plus + minus, "mark-minus");
}

/** Draw the share of examples with a margin of at most theta, and what Theorem 3 promises. */
function drawMargins(svg, page, run, t) {
  const state = run.states[t];
  const margins = state.t > 0 ? [...state.margins].sort((a, b) => a - b) : [];
  const label = margins.length
    ? `Margins from ${short(margins[0])} to ${short(margins.at(-1))}`
    : "No margins yet";
  const chart = drawAxes(svg, {
    label,
    names: ["margin θ", "examples with margin ≤ θ"],
    xs: [-1, 1],
    ys: [0, 1],
    format: percent,
  });
  shade(chart, -1, 0, "wrong");
  if (margins.length === 0) return;
  const promised = [[-1, 0]];
  theorem3(margins.length, run.stumps.slice(0, t)).forEach(([theta, share]) =>
    promised.push([theta, share], [theta, share + 1 / margins.length]),
  );
  drawLine(chart, [...promised, [1, 1]], "bound");
  drawLine(chart, cumulative(adaState(page.points, t).margins), "ada");
  drawLine(chart, cumulative(margins), "margin");
}

/** Return the steps of the share of margins up to theta. */
function cumulative(margins) {
  const sorted = [...margins].sort((a, b) => a - b);
  const steps = [[-1, 0]];
  sorted.forEach((margin, i) =>
    steps.push([margin, i / sorted.length], [margin, (i + 1) / sorted.length]),
  );
  return [...steps, [1, 1]];
}

/** Draw the share of ignored examples and the training error over the rounds. */
function drawHistory(svg, page, run, t) {
  const played = run.states.slice(0, t + 1);
  const chart = drawAxes(svg, {
    label: `Ignored ${percent(run.states[t].zeroShare)} after round ${t}`,
    names: ["round", "examples"],
    xs: [0, Math.max(t, 10)],
    ys: [0, Math.max(0.2, ...played.slice(1).flatMap((s) => [s.zeroShare, s.error]))],
    format: percent,
  });
  drawLine(
    chart,
    played.map((s) => [s.t, s.zeroShare]),
    "zero",
  );
  if (t === 0) return;
  drawLine(
    chart,
    played.slice(1).map((s) => [s.t, adaState(page.points, s.t).error]),
    "ada",
  );
  drawLine(
    chart,
    played.slice(1).map((s) => [s.t, s.error]),
    "error",
  );
}
