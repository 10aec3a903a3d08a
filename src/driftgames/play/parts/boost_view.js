// The view of boosting: shows the state of the page after the rounds played.

/** Show the points after the rounds played. */
function showBoost(page) {
  const run = runOf(page.points);
  const t = shownRound(page);
  const state = run.states[t];
  drawPlane(page, run, t);
  showBoostButtons(page, run, t);
  showBoostFacts(page, run, t);
  drawWeights(byId("weight-chart"), page.points, state);
  drawMargins(byId("margin-chart"), state);
  drawHistory(byId("zero-chart"), run, t);
  showBoostTable(page, state);
}

/** Return the round that is shown: the one asked for, or the last if the run ended before. */
function shownRound(page) {
  return Math.min(page.round, runOf(page.points).stumps.length);
}

/** Return the whole run on these points; the last one is kept. */
function runOf(points) {
  if (runOf.points !== points) {
    const classes = new Set(points.map((point) => point.label)).size;
    runOf.kept = boost(points, classes === 2 ? ROUNDS_AT_MOST : 0);
    runOf.points = points;
  }
  return runOf.kept;
}

function showBoostButtons(page, run, t) {
  const last = run.stumps.length;
  byId("round").value = t;
  byId("round").max = Math.max(last, 1);
  byId("round").disabled = last === 0;
  byId("round-out").textContent = `${t} of ${last}`;
  byId("round-next").disabled = byId("round-ten").disabled = t >= last;
  byId("round-back").disabled = byId("round-zero").disabled = t === 0;
  byId("clear").disabled = page.points.length === 0;
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.tool) === page.tool));
  }
}

function showBoostFacts(page, run, t) {
  const state = run.states[t];
  const ignored = state.p.filter((p) => p === 0).length;
  showFacts(byId("boost-facts"), {
    Examples: String(page.points.length),
    "Ignored next": `${ignored} (${percent(state.zeroShare)})`,
    "Stump of this round": stumpText(page, run, t),
    "Its edge": t > 0 ? short(run.stumps[t - 1].edge, 4) : "–",
    "Training error": t > 0 ? percent(state.error) : "–",
    "Smallest margin": t > 0 ? short(Math.min(...state.margins), 2) : "–",
  });
}

function stumpText(page, run, t) {
  if (run.stumps.length === 0) {
    return page.points.length < 2 || new Set(page.points.map((p) => p.label)).size < 2
      ? "draw both classes"
      : "none has an edge";
  }
  if (t === 0) return "–";
  const { feature, threshold, leftVote } = run.stumps[t - 1];
  return `${FEATURES[feature]} ≤ ${threshold} is ${leftVote > 0 ? "+" : "−"}`;
}

function showBoostTable(page, state) {
  const rows = page.points.map((point, i) => [
    i + 1,
    point.x,
    point.y,
    point.label > 0 ? "+" : "−",
    state.mistakes[i],
    short(state.positions[i], 6),
    short(state.p[i], 6),
    short(state.margins[i], 3),
  ]);
  const headers = [
    "example",
    "x",
    "y",
    "label",
    "mistakes",
    "position",
    "weight in the next round",
    "margin",
  ];
  showTable(byId("boost-table"), headers, rows);
}
