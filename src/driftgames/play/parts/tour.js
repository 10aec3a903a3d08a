// The tour: five steps through the view of the game.

const TOUR = [
  ["line", "Each numbered disc is a chip: an expert. Its place is its loss less the player's. Left is better than the player."],
  ["chips", "The bars are the player's weights. It trusts chips on the left most. A chip at 1 or beyond weighs exactly nothing with NormalHedge.DT."],
  ["play", "You are the adversary. Press a bar to charge that chip a loss, then play the round. Chips that lose more than the player move right."],
  ["sum-chart", "Whatever you do, the sum of the potentials over the chips never rises. That is the whole proof."],
  ["regret-chart", "So no chip can pass the bound, and the regret, the distance of the best chip, stays below it. Now choose a theorem or a task, and try."],
];

/** Go to a step of the tour; beyond the last it ends. */
function showTour(step) {
  for (const marked of document.querySelectorAll(".toured")) marked.classList.remove("toured");
  const box = byId("tour");
  box.hidden = step === null || step >= TOUR.length;
  if (box.hidden) return;
  if (page.view !== "game") change({ view: "game" });
  if (step === 0 && page.rounds.length >= page.setup.horizon) beginAgain();
  const [target, text] = TOUR[step];
  byId(target).classList.add("toured");
  byId(target).scrollIntoView({ block: "center", behavior: isCalm() ? "auto" : "smooth" });
  byId("tour-text").textContent = `${step + 1} of ${TOUR.length}. ${text}`;
  byId("tour-next").textContent = step + 1 < TOUR.length ? "Next" : "Done";
  box.dataset.step = step;
  byId("tour-next").focus({ preventScroll: true });
}

/** Show the first view again: a game that is over has no weights to speak of. */
function beginAgain() {
  const { setup } = PRESETS.start;
  stopPlaying();
  byId("preset-says").textContent = "";
  const marks = [1, ...new Array(setup.n - 1).fill(0)];
  change({ setup, rounds: presetRounds(PRESETS.start), marks, adversary: "you" });
}

function listenToTour() {
  byId("tour-start").addEventListener("click", () => showTour(0));
  byId("tour-next").addEventListener("click", () => showTour(Number(byId("tour").dataset.step) + 1));
  byId("tour-end").addEventListener("click", () => showTour(null));
  byId("tour").addEventListener("keydown", (event) => {
    if (event.key === "Escape") showTour(null);
  });
}
