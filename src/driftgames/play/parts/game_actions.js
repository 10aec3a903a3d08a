// What presses do in the view of the game.

/** Change the loss that a chip is charged: 0, then 1, then 1/2, then 0 again. */
function pressChip(i) {
  if (page.adversary !== "you" || i >= page.setup.n || page.rounds.length >= page.setup.horizon)
    return;
  const marks = page.marks.map((loss, j) => (j === i ? NEXT_LOSS[loss] : loss));
  change({ marks });
}

/** Play `count` rounds, or as many as there are. */
function playRounds(count) {
  const { setup, adversary, marks } = page;
  const rounds = [...page.rounds];
  let state = replay(setup, rounds).at(-1);
  for (let i = 0; i < count && state.p !== null; i++) {
    const losses = ADVERSARIES[adversary].losses(setup, state, marks);
    rounds.push(losses);
    state = nextState(setup, potentialOf(setup), state, losses);
  }
  change({ rounds });
}

/** Take the last round back; its losses are marked again. */
function stepBack() {
  if (page.rounds.length === 0) return;
  change({ rounds: page.rounds.slice(0, -1), marks: page.rounds.at(-1) });
}

/** Change the setup and replay the losses so far with it. */
function changeSetup(changes) {
  const setup = { ...page.setup, ...changes };
  setup.rank = clamp(setup.rank, 1, setup.n - 1);
  const rounds = fitRounds(page.rounds, setup.n, setup.horizon);
  change({ setup, rounds, marks: fitRounds([page.marks], setup.n, 1)[0] });
}

function listenToGame() {
  for (const [name, { title }] of Object.entries(ADVERSARIES)) {
    byId("adversary").append(element("option", { value: name }, title));
  }
  byId("player").addEventListener("change", (event) => changeSetup({ player: event.target.value }));
  byId("adversary").addEventListener("change", (event) =>
    change({ adversary: event.target.value }),
  );
  for (const name of ["n", "horizon", "rank"]) {
    byId(name).addEventListener("input", (event) =>
      changeSetup({ [name]: Number(event.target.value) }),
    );
  }
  byId("play").addEventListener("click", () => playRounds(1));
  byId("finish").addEventListener("click", () => playRounds(Infinity));
  byId("back").addEventListener("click", stepBack);
  byId("restart").addEventListener("click", () => change({ rounds: [] }));
  document.addEventListener("keydown", pressKey);
}

/** The keys of the game; none where text is typed or a list has the focus. */
function pressKey(event) {
  const busy =
    event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select");
  if (page.view !== "game" || busy) return;
  const key = event.key.toLowerCase();
  if (/^[1-9]$/.test(key)) pressChip(Number(key) - 1);
  else if (key === "n") playRounds(1);
  else if (key === "b") stepBack();
}
