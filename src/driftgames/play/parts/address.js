// The part of the address behind #: it holds the whole game, so a link shares it.

const LOSS_DIGITS = "012"; // a digit is twice the loss
const ROUNDS_AT_MOST = 100; // of boosting
const ROUND_SHOWN = 30; // where boosting opens
const SIDE = 100; // coordinates of points are 0, ..., 99

/** Return the fragment of a state of the page. */
function writeAddress(page) {
  const fields = page.view === "game" ? gameFields(page) : boostFields(page);
  return "#" + new URLSearchParams({ view: page.view, ...fields }).toString();
}

function gameFields({ setup, adversary, rounds, marks }) {
  const { player, n, horizon, rank } = setup;
  return {
    player,
    n,
    t: horizon,
    k: rank,
    foe: adversary,
    marks: digits(marks),
    rounds: rounds.map(digits).join(""),
  };
}

function boostFields({ points, round }) {
  const two = (number) => String(number).padStart(2, "0");
  const text = points.map((p) => two(p.x) + two(p.y) + (p.label > 0 ? "p" : "n"));
  return { points: text.join(""), round };
}

function digits(losses) {
  return losses.map((loss) => LOSS_DIGITS[2 * loss]).join("");
}

/** Return a state of the page from a fragment; what the fragment lacks is as in `page`. */
function readAddress(fragment, page) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const view = fields.get("view");
  if (view === "game") return { ...page, view, ...readGame(fields, page) };
  if (view === "boost") return { ...page, view, ...readBoost(fields, page) };
  return page;
}

function readGame(fields, page) {
  const player = known(fields.get("player"), POTENTIALS, page.setup.player);
  const n = whole(fields.get("n"), ...LIMITS.n, page.setup.n);
  const horizon = whole(fields.get("t"), ...LIMITS.horizon, page.setup.horizon);
  const rank = whole(fields.get("k"), 1, n - 1, 1);
  const losses = readLosses(fields.get("rounds") ?? "");
  const rounds = [];
  for (let i = 0; i + n <= losses.length; i += n) rounds.push(losses.slice(i, i + n));
  const marks = readLosses(fields.get("marks") ?? "");
  return {
    setup: { player, n, horizon, rank },
    adversary: known(fields.get("foe"), ADVERSARIES, page.adversary),
    rounds: fitRounds(rounds, n, horizon),
    marks: fitRounds([marks], n, 1)[0],
  };
}

function readLosses(text) {
  return [...text].filter((digit) => LOSS_DIGITS.includes(digit)).map((d) => Number(d) / 2);
}

function readBoost(fields, page) {
  const found = (fields.get("points") ?? "").match(/\d{4}[pn]/g);
  const points = (found ?? []).map((text) => ({
    x: Number(text.slice(0, 2)),
    y: Number(text.slice(2, 4)),
    label: text[4] === "p" ? 1 : -1,
  }));
  return {
    points: fields.has("points") ? points : page.points,
    round: whole(fields.get("round"), 0, ROUNDS_AT_MOST, page.round),
  };
}

function known(name, table, otherwise) {
  return Object.hasOwn(table, name) ? name : otherwise;
}

function whole(text, low, high, otherwise) {
  const value = Number.parseInt(text, 10);
  return Number.isNaN(value) ? otherwise : clamp(value, low, high);
}
