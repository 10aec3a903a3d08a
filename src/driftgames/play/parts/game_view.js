// The view of the game: reads the state of the page and shows it; presses change the state.

const NEXT_LOSS = { 0: 1, 1: 0.5, 0.5: 0 };
const LOSS_TEXT = { 0: "0", 0.5: "½", 1: "1" };
const CAPTION = "Solid: the potential now. Its heights over the chips add up to the sum.";
const NEXT_CAPTION = " Dashed: that of the next round. Its slope gives the weights.";
const GAME_OVER =
  "The game is over. Step back, or choose another player: it then plays against the same losses.";
const HOW_TO_CHARGE =
  "Press a bar to charge that chip a loss of 1, again for ½, and again for 0. " +
  "Equal losses move no chip.";

/** Show the game. */
function showGame(page) {
  const states = replay(page.setup, page.rounds);
  const state = states.at(-1);
  const over = state.p === null;
  showSetup(page);
  showChips(page, state);
  const after = over || page.adversary !== "you" ? null : positionsAfter(state, page.marks);
  drawLineOfChips(byId("line"), page.setup, state, after, pressChip);
  byId("line-caption").textContent = captionOf(page.setup, state);
  byId("plan").textContent = planText(page, state);
  byId("play").disabled = byId("finish").disabled = over;
  byId("back").disabled = byId("restart").disabled = state.t === 0;
  showGameFacts(page, states);
  showGameCharts(page, states);
  showGameTable(page, state);
  showRace(page);
  showTasks(byId("game-tasks"), GAME_TASKS, page, state, states[0]);
}

/** Say what the curve is, and why it may be flat. */
function captionOf(setup, state) {
  if (state.p === null && setup.player === "minimax") {
    return state.sum === 0
      ? "Solid: the potential at the end. It is 1 left of the bound and 0 elsewhere. No chip is " +
          "there, so nothing is lost: the sum is 0, and the player has won."
      : "Solid: the potential at the end, 1 for a chip that is lost and 0 for the others.";
  }
  if (state.t === 0 && setup.player === "normalhedge.dt") {
    return "Solid: before the first round the potential is the same everywhere." + NEXT_CAPTION;
  }
  return state.p === null ? CAPTION : CAPTION + NEXT_CAPTION;
}

/** What the facts of the game mean. */
const GAME_MEANINGS = {
  Round: "How many rounds were played, of how many. Some players must know the last round.",
  "Sum of potentials":
    "The height of the curve over each chip, added up. It starts as a budget and never rises.",
  "ε-regret":
    "How far the k-th best chip is to the left: what the player lost more than that expert. " +
    "For ε = 1/N it is the best expert.",
  "Its bound now":
    "What Theorem 2 promises after this round, whoever plays against the player. ✓ if it is kept.",
  "Player's loss": "The weighted average of the losses that were charged, over all rounds.",
  "Fall of the sum": "How much of the budget is used up. No adversary can raise it again.",
};

function showSetup({ setup, adversary }) {
  byId("player").value = setup.player;
  byId("adversary").value = adversary;
  for (const name of ["n", "horizon"]) {
    [byId(name).min, byId(name).max] = LIMITS[name];
    byId(name).value = setup[name];
    byId(`${name}-out`).textContent = setup[name];
  }
  byId("rank").max = setup.n - 1;
  byId("rank").value = setup.rank;
  byId("rank-out").textContent = `${setup.rank}/${setup.n}`;
}

/** Show a button for each chip: its weight as a bar, its loss below; a press changes the loss. */
function showChips(page, state) {
  const host = byId("chips");
  while (host.children.length > page.setup.n) host.lastChild.remove();
  while (host.children.length < page.setup.n) host.append(newChip(host.children.length));
  const most = Math.max(...(state.p ?? [1]));
  [...host.children].forEach((chip, i) => showChip(chip, i, page, state, most));
}

function newChip(i) {
  const room = element(
    "span",
    { class: "room" },
    element("span", { class: "bar" }),
    element("span", { class: "share" }),
  );
  const name = element("span", { class: "name" }, String(i + 1));
  const chip = element(
    "button",
    { class: "chip", type: "button" },
    room,
    name,
    element("span", { class: "loss" }),
  );
  chip.addEventListener("click", () => pressChip(i));
  return chip;
}

function showChip(chip, i, page, state, most) {
  const p = state.p ? state.p[i] : 0;
  const yours = page.adversary === "you" && state.p !== null;
  const loss = yours ? page.marks[i] : page.rounds.at(-1)?.[i]; // to be charged, or charged last
  const height = most > 0 ? (56 * p) / most : 0;
  chip.querySelector(".bar").style.height = `${height}px`;
  chip.querySelector(".share").style.bottom = `${height}px`;
  chip.querySelector(".share").textContent = state.p ? shareText(p, page.setup.n) : "";
  chip.querySelector(".loss").textContent = LOSS_TEXT[loss] ?? "–";
  chip.dataset.loss = loss ?? "";
  chip.disabled = !yours;
  const charge = `${yours ? "loss" : "last loss"} ${LOSS_TEXT[loss] ?? "none"}`;
  const place = `position ${short(state.positions[i])}`;
  chip.setAttribute("aria-label", `Chip ${i + 1}: weight ${percent(p)}, ${place}, ${charge}`);
}

/** Return a weight as a percentage; among many chips there is room for two digits only. */
function shareText(p, n) {
  if (n <= 8) return percent(p).replace(" ", "");
  return p > 0 && p < 0.01 ? "<1" : (100 * p).toFixed(0);
}

/** Say what a round would do. */
function planText({ setup, adversary, marks }, state) {
  if (state.p === null) return GAME_OVER;
  if (adversary !== "you") {
    return `${ADVERSARIES[adversary].title} will charge the losses of round ${state.t + 1}.`;
  }
  if (marks.every((loss) => loss === marks[0])) return HOW_TO_CHARGE;
  const pays = short(dot(state.p, marks), 3);
  const then = short(sumAfter(potentialOf(setup), state, marks), 3);
  return `The player would pay ${pays}, and the sum would go from ${short(state.sum, 3)} to ${then}.`;
}

function showGameFacts({ setup }, states) {
  const state = states.at(-1);
  const holds = state.regret <= state.bound + 1e-9;
  showFacts(byId("game-facts"), {
    Round: `${state.t} of ${setup.horizon}`,
    "Sum of potentials": short(state.sum, 3),
    "ε-regret": short(state.regret, 3),
    "Its bound now": [`${short(state.bound, 3)} ${holds ? "✓" : "✗"}`, holds ? "good" : "bad"],
    "Player's loss": short(state.learnerLoss, 3),
    "Fall of the sum": percent(1 - state.sum / states[0].sum),
  }, GAME_MEANINGS);
}

function showGameCharts({ setup }, states) {
  const sums = states.map((state) => [state.t, state.sum]);
  const label = `Sum of potentials, from ${short(states[0].sum)} to ${short(states.at(-1).sum)}`;
  const above = drawAxes(byId("sum-chart"), {
    label,
    names: ["round", "sum of potentials"],
    xs: [0, setup.horizon],
    ys: [0, 1.08 * states[0].sum],
  });
  drawLine(above, sums, "sum");
  drawEnd(above, sums.at(-1));

  const regrets = states.map((state) => [state.t, state.regret]);
  const bounds = Array.from({ length: setup.horizon + 1 }, (_, t) => [
    t,
    potentialOf(setup).bound(t),
  ]);
  const low = Math.min(0, ...regrets.map(([, regret]) => regret));
  const chart = drawAxes(byId("regret-chart"), {
    label: `Regret ${short(states.at(-1).regret)} and its bound ${short(states.at(-1).bound)}`,
    names: ["round", "loss"],
    xs: [0, setup.horizon],
    ys: [1.1 * low, 1.1 * Math.max(...bounds.map(([, bound]) => bound))],
  });
  drawLine(chart, bounds, "bound");
  drawLine(chart, regrets, "regret");
  drawEnd(chart, regrets.at(-1));
}

function drawEnd(chart, [x, y]) {
  chart.svg.append(
    shape("circle", { cx: chart.x(x), cy: chart.y(y), r: 3.5, fill: "currentColor" }),
  );
}

function showGameTable({ setup }, state) {
  const potential = potentialOf(setup);
  const rows = state.positions.map((s, i) => [
    i + 1,
    short(s, 6),
    short(potential.value(s, state.t), 6),
    state.p ? short(state.p[i], 6) : "–",
  ]);
  showTable(
    byId("game-table"),
    ["chip", "position", "potential", "weight in the next round"],
    rows,
  );
}
