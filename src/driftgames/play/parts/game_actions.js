// What presses do in the view of the game.

/** Change the loss that a chip is charged: 0, then 1, then 1/2, then 0 again. */
function pressChip(i) {
  if (page.adversary !== "you" || i >= page.setup.n || page.rounds.length >= page.setup.horizon)
    return;
  const marks = page.marks.map((loss, j) => (j === i ? NEXT_LOSS[loss] : loss));
  change({ marks });
}

const BETWEEN_ROUNDS = 120; // milliseconds

/** Return whether the reader wants no motion. */
function isCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Return the rounds of the page with up to `count` more of its adversary. */
function moreRounds(count) {
  const { setup, adversary, marks } = page;
  const rounds = [...page.rounds];
  let state = replay(setup, rounds).at(-1);
  for (let i = 0; i < count && state.p !== null; i++) {
    const losses = ADVERSARIES[adversary].losses(setup, state, marks);
    rounds.push(losses);
    state = nextState(setup, potentialOf(setup), state, losses);
  }
  return rounds;
}

/** Play `count` rounds, or as many as there are, one after another for the eye; then call `after`. */
function playRounds(count, after = () => {}) {
  stopPlaying();
  if (count === 1 || isCalm()) {
    change({ rounds: moreRounds(count) });
    after();
    return;
  }
  const end = Math.min(page.rounds.length + count, page.setup.horizon);
  playRounds.timer = setInterval(() => {
    page = { ...page, rounds: moreRounds(1) };
    show(); // a browser refuses an address for every round: `stopPlaying` writes it
    if (page.rounds.length >= end) {
      stopPlaying();
      after();
    }
  }, BETWEEN_ROUNDS);
  byId("finish").textContent = "Stop";
}

/** Stop the rounds that play by themselves; return whether some did. */
function stopPlaying() {
  const played = playRounds.timer !== undefined;
  clearInterval(playRounds.timer);
  playRounds.timer = undefined;
  byId("finish").textContent = "Play all";
  if (played) keepAddress();
  return played;
}

/** Play all rounds, or stop where they play. */
function pressFinish() {
  if (!stopPlaying()) playRounds(page.setup.horizon);
}

/** Take the last round back; its losses are marked again. */
function stepBack() {
  stopPlaying();
  if (page.rounds.length === 0) return;
  change({ rounds: page.rounds.slice(0, -1), marks: page.rounds.at(-1) });
}

/** Change the setup and replay the losses so far with it. */
function changeSetup(changes) {
  stopPlaying();
  const onlyRank = Object.keys(changes).every((name) => name === "rank"); // a preset asks to move it
  if (!onlyRank) byId("preset-says").textContent = "";
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
  byId("finish").addEventListener("click", pressFinish);
  for (const [name, { title }] of Object.entries(PRESETS)) {
    byId("presets").append(element("option", { value: name }, title));
  }
  byId("presets").addEventListener("change", (event) => {
    if (event.target.value) choosePreset(event.target.value);
    event.target.value = "";
  });
  byId("race").addEventListener("toggle", () => showRace(page));
  byId("back").addEventListener("click", stepBack);
  byId("restart").addEventListener("click", () => {
    stopPlaying();
    change({ rounds: [] });
  });
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
