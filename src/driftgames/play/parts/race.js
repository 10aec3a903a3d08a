// The race: all four players against the losses of this game.

const RACERS = ["normalhedge.dt", "exp", "2-norm", "minimax"];

/** Return the regrets of a player against these losses, and its bound at the end. */
function raceOf(player, { setup, rounds }) {
  const own = { ...setup, player };
  const key = JSON.stringify([own, rounds]);
  raceOf.kept ??= new Map();
  if (raceOf.kept.get(player)?.key !== key) {
    const potential = racePotential(own);
    const states = [startOf(own, potential)];
    for (const losses of rounds) states.push(nextState(own, potential, states.at(-1), losses));
    const regrets = states.map((state) => [state.t, state.regret]);
    raceOf.kept.set(player, { key, regrets, bound: potential.bound(own.horizon), title: potential.title });
  }
  return raceOf.kept.get(player);
}

/** Return a potential; each player of the race keeps its own, because minimax takes a while. */
function racePotential(setup) {
  const key = [setup.player, setup.horizon, setup.rank / setup.n].join();
  racePotential.kept ??= new Map();
  if (racePotential.kept.get(setup.player)?.key !== key) {
    const potential = makePotential(setup.player, setup.horizon, setup.rank / setup.n);
    racePotential.kept.set(setup.player, { key, potential });
  }
  return racePotential.kept.get(setup.player).potential;
}

/** Draw the race and its table. */
function showRace(page) {
  const open = byId("race").open;
  if (!open) return;
  const runs = RACERS.map((player) => raceOf(player, page));
  const all = runs.flatMap((run) => run.regrets.map(([, regret]) => regret));
  const chart = drawAxes(byId("race-chart"), {
    label: `Regret of four players: ${runs.map((run) => `${run.title} ${short(run.regrets.at(-1)[1])}`).join(", ")}`,
    names: ["round", "ε-regret"],
    xs: [0, page.setup.horizon],
    ys: [Math.min(0, ...all), Math.max(1, 1.1 * Math.max(...all))],
    height: 170,
  });
  runs.forEach((run, i) => {
    drawLine(chart, run.regrets, `racer racer-${i}`);
    const [t, regret] = run.regrets.at(-1);
    chart.svg.append(
      shape("circle", { class: `racer-dot racer-${i}`, cx: chart.x(t), cy: chart.y(regret), r: 3.5 }),
    );
  });
  const order = runs.map((_, i) => i).sort((a, b) => runs[a].regrets.at(-1)[1] - runs[b].regrets.at(-1)[1]);
  const rows = order.map((i, place) => [
    place + 1,
    runs[i].title,
    short(runs[i].regrets.at(-1)[1], 3),
    short(runs[i].bound, 2),
  ]);
  showTable(byId("race-table"), ["place", "player", "ε-regret", "its bound"], rows);
  [...byId("race-table").tBodies[0].rows].forEach((row, place) => {
    row.cells[1].prepend(element("span", { class: `key racer-${order[place]}` }), " ");
  });
}
