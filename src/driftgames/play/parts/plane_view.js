// The plane: the vote as a field, the stump of the round as a line, the points on top.

/** Draw the vote behind the points, the stump of this round, and the points. */
function drawPlane(page, run, t) {
  const svg = byId("plane");
  svg.setAttribute("viewBox", `0 0 ${SIDE} ${SIDE}`);
  svg.replaceChildren(...voteField(run.stumps.slice(0, t)));
  if (t > 0) svg.append(stumpLine(run.stumps[t - 1]));
  const { p, mistakes } = run.states[t];
  page.points.forEach((point, i) => {
    const missed = t > 0 && isWrong(point.label, mistakes[i], t);
    svg.append(
      mark(
        point.label,
        point.x + 0.5,
        SIDE - point.y - 0.5,
        radius(p[i], p.length),
        p[i] === 0,
        missed,
      ),
    );
  });
  const { x, y } = page.cursor;
  svg.append(
    shape("path", {
      class: "cursor",
      d: `M${x - 3} ${SIDE - y - 0.5}h7M${x + 0.5} ${SIDE - y - 4}v7`,
    }),
  );
}

/** Return the radius of a point: its area grows with its weight. */
function radius(p, n) {
  return p === 0 ? 1.5 : clamp(1.7 * Math.sqrt(p * n), 1, 4.5);
}

/** Return a point: a disc for +, a square for -; empty if it weighs nothing. */
function mark(label, x, y, r, empty, missed = false) {
  const classes = ["mark", label > 0 ? "mark-plus" : "mark-minus"];
  if (empty) classes.push("empty");
  if (missed) classes.push("missed");
  if (label > 0) return shape("circle", { class: classes.join(" "), cx: x, cy: y, r });
  const side = 1.8 * r;
  return shape("rect", {
    class: classes.join(" "),
    x: x - side / 2,
    y: y - side / 2,
    width: side,
    height: side,
  });
}

/** Return rectangles on which the vote is constant, the stronger the more one-sided. */
function voteField(stumps) {
  const [xs, ys] = FEATURES.map((_, feature) => {
    const cuts = stumps
      .filter((stump) => stump.feature === feature)
      .map((stump) => stump.threshold + 0.5);
    return [...new Set([0, ...cuts, SIDE])].sort((a, b) => a - b);
  });
  const cells = [];
  for (let i = 0; i + 1 < xs.length; i++) {
    for (let j = 0; j + 1 < ys.length; j++) {
      const middle = { x: (xs[i] + xs[i + 1]) / 2 - 0.5, y: (ys[j] + ys[j + 1]) / 2 - 0.5 };
      const share = sum(stumps.map((stump) => vote(stump, middle))) / Math.max(stumps.length, 1);
      const place = {
        x: xs[i],
        y: SIDE - ys[j + 1],
        width: xs[i + 1] - xs[i],
        height: ys[j + 1] - ys[j],
      };
      const opacity = stumps.length ? (0.08 + 0.32 * Math.abs(share)).toFixed(3) : 0;
      cells.push(
        shape("rect", { class: share > 0 ? "field-plus" : "field-minus", ...place, opacity }),
      );
    }
  }
  return cells;
}

function stumpLine({ feature, threshold }) {
  const at = threshold + 0.5;
  const ends =
    feature === 0
      ? { x1: at, x2: at, y1: 0, y2: SIDE }
      : { x1: 0, x2: SIDE, y1: SIDE - at, y2: SIDE - at };
  return shape("line", { class: "stump", ...ends });
}
