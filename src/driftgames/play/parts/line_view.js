// The line: chips below it, the potential above it, and where the losses would move the chips.

const DISC = 10; // the radius of a chip
// A bound further away is named by an arrow.
const BOUND_IN_VIEW = { narrow: 16, wide: 27 };

/** Draw the chips of a state; `after` are the positions that the marked losses lead to, or null. */
function drawLineOfChips(svg, setup, state, after, press) {
  const potential = potentialOf(setup);
  const place = svg.parentElement.clientWidth;
  const ground = place > 500 ? 230 : 160;
  const farthest = BOUND_IN_VIEW[place > 500 ? "wide" : "narrow"];
  const window_ = windowOf(state, potential.bound(setup.horizon), farthest);
  const discs = stack(state.positions, place, window_);
  const width = clearDrawing(svg, ground + 26 + discs.height);
  const x = scale(...window_, 14, width - 14);
  const y = scale(0, highest(potential, state), ground, 22);
  drawPromise(svg, potential.bound(setup.horizon), setup.horizon, x);
  drawGround(svg, x, window_, ground, width);
  drawCurves(svg, potential, state, window_, x, y, ground, width);
  state.positions.forEach((s) => {
    const top = y(potential.value(s, state.t));
    svg.append(shape("line", { class: "stem", x1: x(s), x2: x(s), y1: ground, y2: top }));
    svg.append(shape("circle", { class: "dot", cx: x(s), cy: top, r: 3.5 }));
  });
  const places = state.positions.map((s, i) => [x(s), ground + 22 + DISC + discs.depth[i]]);
  if (after) places.forEach((from, i) => drawDrift(svg, from, x(after[i])));
  const most = Math.max(...(state.p ?? [1]));
  places.forEach((at, i) => drawDisc(svg, at, i, state.p ? state.p[i] / most : 0, press));
  svg.setAttribute("aria-label", describeLine(state));
}

/** Return the positions that the drawing shows: all chips, and the bound if it is not too far. */
function windowOf(state, bound, farthest) {
  const lowest = Math.min(-4.5, Math.min(...state.positions) - 1.6);
  return [
    bound <= farthest ? Math.min(lowest, -1.08 * bound) : lowest,
    Math.max(3.5, Math.max(...state.positions) + 1.4),
  ];
}

/** Return how deep each chip lies in its stack, and the height of the highest stack. */
function stack(positions, width, window_) {
  const x = scale(...window_, 14, width - 14);
  const order = positions.map((_, i) => i).sort((a, b) => positions[a] - positions[b] || a - b);
  const rows = []; // the right end of each row of chips
  const row = [];
  for (const i of order) {
    let r = rows.findIndex((end) => x(positions[i]) - end >= 2 * DISC + 1);
    if (r < 0) r = rows.length;
    rows[r] = x(positions[i]);
    row[i] = r;
  }
  const step = Math.min(2 * DISC + 1, 130 / Math.max(rows.length - 1, 1));
  return { depth: row.map((r) => r * step), height: 2 * DISC + (rows.length - 1) * step + 6 };
}

/** Return a potential a little above that of every chip. */
function highest(potential, state) {
  const values = state.positions.flatMap((s) => [
    potential.value(s, state.t),
    state.p ? potential.value(s, state.t + 1) : 0,
  ]);
  return 1.35 * Math.max(...values) || 1;
}

/** Draw the bound, or an arrow towards it if it is far to the left. */
function drawPromise(svg, bound, horizon, x) {
  const height = svg.viewBox.baseVal.height;
  const name = `the bound at round ${horizon}`;
  if (x(-bound) < 0) {
    svg.append(shape("text", { class: "alarm", x: 2, y: 12 }, `← ${name}: −${short(bound, 1)}`));
    return;
  }
  svg.append(shape("rect", { class: "beyond", x: 0, y: 0, width: x(-bound), height }));
  svg.append(shape("line", { class: "promise", x1: x(-bound), x2: x(-bound), y1: 0, y2: height }));
  svg.append(
    shape("text", { class: "alarm", x: x(-bound) + 5, y: 12 }, `−${short(bound, 1)}: ${name}`),
  );
}

function drawGround(svg, x, window_, ground, width) {
  svg.append(shape("line", { class: "axis", x1: 0, x2: width, y1: ground, y2: ground }));
  for (const tick of ticks(...window_, Math.min(12, width / 45))) {
    const place = { x: x(tick), y: ground + 15, "text-anchor": "middle" };
    svg.append(shape("text", place, tickText(tick)));
  }
}

/** Draw the potential after this round, and dashed that of the next one. */
function drawCurves(svg, potential, state, window_, x, y, ground, width) {
  const frame = shape(
    "clipPath",
    { id: "above" },
    shape("rect", { x: 0, y: 18, width, height: ground - 17 }),
  );
  svg.append(frame);
  const n = 240;
  const at = Array.from(
    { length: n + 1 },
    (_, i) => window_[0] + ((window_[1] - window_[0]) * i) / n,
  );
  const draw = (t, className) => {
    const d = path(at.map((s) => [x(s), clamp(y(potential.value(s, t)), -2000, ground)]));
    svg.append(shape("path", { class: className, d, "clip-path": "url(#above)" }));
  };
  if (state.p) draw(state.t + 1, "next");
  draw(state.t, "curve");
}

/** Draw an arrow from a chip to where it would move. */
function drawDrift(svg, [x, y], end) {
  const length = end - x;
  if (Math.abs(length) < 3) return;
  const sign = Math.sign(length);
  const start = x + sign * DISC;
  const tip = sign * (end - start) > 6 ? end : start + sign * 6;
  svg.append(shape("path", { class: "drift", d: `M${start} ${y}L${tip - sign * 4} ${y}` }));
  const d = `M${tip} ${y}l${-sign * 6} -4v8z`;
  svg.append(shape("path", { class: "head", d }));
}

/** Draw a chip, the fuller the more it weighs. */
function drawDisc(svg, [cx, cy], i, strength, press) {
  svg.append(shape("circle", { class: "disc-ground", cx, cy, r: DISC - 1 }));
  const disc = shape("circle", {
    class: "disc",
    cx,
    cy,
    r: DISC - 1,
    "fill-opacity": strength.toFixed(3),
  });
  disc.addEventListener("click", () => press(i));
  svg.append(disc);
  svg.append(shape("text", { class: "number", x: cx, y: cy + 3.5 }, String(i + 1)));
}

function describeLine(state) {
  const places = state.positions.map((s, i) => `chip ${i + 1} at ${short(s)}`);
  return `After round ${state.t}: ${places.join(", ")}`;
}
