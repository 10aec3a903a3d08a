// The state of the page, and what changes it.

const FIXTURES = JSON.parse(byId("fixtures").textContent);

/** All that the page shows follows from this. */
let page = {
  view: "game",
  setup: { player: "normalhedge.dt", n: 6, horizon: 20, rank: 1 },
  adversary: "you",
  rounds: [],
  marks: [1, 0, 0, 0, 0, 0],
  points: [],
  round: ROUND_SHOWN,
  tool: 1,
  cursor: { x: 50, y: 50 },
};

const HEADINGS = { game: "Be the adversary", boost: "Boost what you draw" };
const TITLES = {
  game: "Be the adversary: a drifting game",
  boost: "Boost what you draw: NH-Boost.DT",
};

/** Change the state, write it to the address and show it. */
function change(changes) {
  page = { ...page, ...changes };
  keepAddress();
  tell("");
  show();
}

/** Write the state to the address; a browser may refuse after very many changes. */
function keepAddress() {
  try {
    history.replaceState(null, "", writeAddress(page));
  } catch {
    // the next change writes it again, and "Copy link" does not need it
  }
}

/** Show the view that is chosen. */
function show() {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.dataset.view === page.view;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    byId(tab.dataset.view).hidden = !chosen;
  }
  document.title = TITLES[page.view];
  byId("heading").textContent = HEADINGS[page.view];
  if (page.view === "game") showGame(page);
  else showBoost(page);
}

/** Say something in the line of messages. */
function tell(message) {
  byId("status").replaceChildren(message);
}

/** Copy the link to this state; where that is not allowed, show it to be copied by hand. */
async function copyLink() {
  const link = location.href.split("#")[0] + writeAddress(page);
  try {
    await navigator.clipboard.writeText(link);
    tell(
      "The link is copied. Its part behind # holds the whole state; it opens on any copy of this page.",
    );
  } catch {
    const field = element("input", {
      readonly: "",
      value: link,
      "aria-label": "Link to this state",
    });
    tell(field);
    field.select();
  }
}

/** Return whether the page is dark now. */
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme() {
  const other = isDark() ? "Light" : "Dark";
  byId("theme").textContent = other;
  byId("theme").setAttribute("aria-label", `${other} colours`);
}

function switchTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
}

/** Move between the tabs with the arrow keys. */
function pressTabKey(event) {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const other = document.querySelector("[role=tab][aria-selected=false]");
  other.click();
  other.focus();
}

function start() {
  addStoredAdversaries(FIXTURES.adversaries);
  page.points = EXAMPLES.noise.points();
  page.rounds = presetRounds(PRESETS.start);
  listenToTour();
  listenToGame();
  listenToBoost();
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.addEventListener("click", () => change({ view: tab.dataset.view }));
    tab.addEventListener("keydown", pressTabKey);
  }
  for (const button of document.querySelectorAll("button.share"))
    button.addEventListener("click", copyLink);
  byId("theme").addEventListener("click", switchTheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  addEventListener("hashchange", () => {
    page = readAddress(location.hash, page);
    show();
  });
  addEventListener("resize", show);
  page = readAddress(location.hash, page);
  showTheme();
  show();
  const difference = checkAgainstLibrary(FIXTURES);
  byId("checked").textContent =
    `Checked in this browser: ${FIXTURES.games.length} games and ${FIXTURES.fits.length} fit of the ` +
    `Python library replayed, largest difference ${difference.toExponential(1)}.`;
}

start();
