// The view of boosting: shows the state of the page after the rounds played.

/** Show the points after the rounds played. */
function showBoost(page) {
  const run = runOf(page.points);
  const t = shownRound(page);
  const state = run.states[t];
  drawPlane(page, run, t);
  showBoostButtons(page, run, t);
  showBoostFacts(page, run, t);
  byId("boost-says").textContent = endText(page, run, t);
  drawWeights(byId("weight-chart"), page.points, state);
  drawMargins(byId("margin-chart"), page, run, t);
  drawHistory(byId("zero-chart"), page, run, t);
  showBoostTable(page, state);
  showTasks(byId("boost-tasks"), BOOST_TASKS, page, run, t);
}

/** What the facts of boosting mean. */
const BOOST_MEANINGS = {
  Examples: "The points in the plane.",
  "Ignored next":
    "Points of weight exactly zero: the next stump need not look at them. They are outlines.",
  "Looks saved":
    "Of all looks at an example so far, one per example and round, the share that was saved.",
  "Stump of this round": "The question of this round, dashed in the plane.",
  "Its edge":
    "How much better than chance the stump is, by weight: 0.5 is always right, 0 is a coin.",
  "Training error": "The share of points that the vote of all stumps gets wrong.",
  "AdaBoost's error": "The share of points that AdaBoost gets wrong after as many rounds.",
  "Smallest margin":
    "The lowest margin: 1 if all stumps are right about a point, below 0 if the vote is wrong.",
};

/** Return the round that is shown: the one asked for, or the last if the run ended before. */
function shownRound(page) {
  return Math.min(page.round, runOf(page.points).stumps.length);
}

/** Return the whole run on these points; the last one is kept. */
function runOf(points) {
  if (runOf.points !== points) {
    runOf.kept = boost(points, hasBothClasses(points) ? ROUNDS_AT_MOST : 0);
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
    "Looks saved": t > 0 ? percent(savedLooks(run, t)) : "–",
    "Stump of this round": stumpText(page, run, t),
    "Its edge": t > 0 ? short(run.stumps[t - 1].edge, 4) : "–",
    "Training error": t > 0 ? percent(state.error) : "–",
    "AdaBoost's error": t > 0 ? percent(adaState(page.points, t).error) : "–",
    "Smallest margin": t > 0 ? short(Math.min(...state.margins), 2) : "–",
  }, BOOST_MEANINGS);
}

/** Return the share of examples of weight zero, over the rounds so far. */
function savedLooks(run, t) {
  return sum(run.states.slice(0, t).map((state) => state.zeroShare)) / t;
}

function stumpText(page, run, t) {
  if (run.stumps.length === 0) {
    return hasBothClasses(page.points) ? "none has an edge" : "draw both classes";
  }
  if (t === 0) return "–";
  const { feature, threshold, leftVote } = run.stumps[t - 1];
  return `${FEATURES[feature]} ≤ ${threshold} is ${leftVote > 0 ? "+" : "−"}`;
}

/** Say why there is no next round. */
function endText(page, run, t) {
  const last = run.stumps.length;
  if (t < last || last === ROUNDS_AT_MOST || !hasBothClasses(page.points)) return "";
  const edge = "Every stump gets half of the weight wrong, so none has an edge";
  return last === 0
    ? `${edge}, and boosting cannot begin. Theorem 3 needs an edge in every round. Move or add a point.`
    : `${edge} any more, and boosting ends here.`;
}

function hasBothClasses(points) {
  return new Set(points.map((point) => point.label)).size === 2;
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
