// What presses do in the view of boosting.

const POINTS_AT_MOST = 200;
const ERASER = 4; // how near a point must be to be erased

/** Points to begin with: functions that draw a list. */
const EXAMPLES = {
  noise: {
    title: "Noisy halves",
    points: () => scatter(60, 5, (x, y, draw) => x > 50 !== draw() < 0.12),
  },
  xor: { title: "XOR (stumps fail)", points: () => xorPoints() },
  moons: { title: "Two moons", points: () => moons(35, 11) },
  mislabelled: {
    title: "Diagonal, a fifth mislabelled",
    points: () => scatter(80, 9, (x, y, draw) => y > x !== draw() < 0.2),
  },
  diagonal: { title: "Diagonal", points: () => scatter(50, 3, (x, y) => y > x) },
  circle: {
    title: "Circle",
    points: () => scatter(60, 7, (x, y) => Math.hypot(x - 50, y - 50) < 30),
  },
};

/** Return n points at random places with the label that a function gives them. */
function scatter(n, seed, isPlus) {
  const draw = randomNumbers(seed);
  return Array.from({ length: n }, () => {
    const [x, y] = [Math.floor(draw() * SIDE), Math.floor(draw() * SIDE)];
    return { x, y, label: isPlus(x, y, draw) ? 1 : -1 };
  });
}

/** Return four balanced corners, on which no stump has an edge. */
function xorPoints() {
  const steps = [12, 20, 28];
  return [0, 60].flatMap((dx) =>
    [0, 60].flatMap((dy) =>
      steps.flatMap((x) =>
        steps.map((y) => ({ x: x + dx, y: y + dy, label: dx === dy ? 1 : -1 })),
      ),
    ),
  );
}

/** Return two arcs that lie in each other, n points each. */
function moons(n, seed) {
  const draw = randomNumbers(seed);
  const place = (value) => clamp(Math.round(value + 6 * (draw() - 0.5)), 0, SIDE - 1);
  return Array.from({ length: 2 * n }, (_, i) => {
    const angle = (Math.PI * (i % n)) / (n - 1);
    return i < n
      ? { x: place(36 + 26 * Math.cos(angle)), y: place(45 + 30 * Math.sin(angle)), label: 1 }
      : { x: place(64 - 26 * Math.cos(angle)), y: place(55 - 30 * Math.sin(angle)), label: -1 };
  });
}

/** Draw or erase at a place of the plane, as the tool says. */
function pressPlane(x, y) {
  if (page.tool === 0) return erase(x, y);
  if (page.points.length >= POINTS_AT_MOST)
    return tell(`The plane holds ${POINTS_AT_MOST} points at most.`);
  change({ points: [...page.points, { x, y, label: page.tool }], cursor: { x, y } });
}

/** Erase the nearest point, if one is near. */
function erase(x, y) {
  const distance = (point) => Math.hypot(point.x - x, point.y - y);
  const near = page.points.filter((point) => distance(point) <= ERASER);
  if (near.length === 0) return;
  const nearest = near.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  change({ points: page.points.filter((point) => point !== nearest), cursor: { x, y } });
}

/** Return the place of the plane under a pointer. */
function placeOf(event) {
  const box = byId("plane").getBoundingClientRect();
  const cell = (share) => clamp(Math.floor(share * SIDE), 0, SIDE - 1);
  return [
    cell((event.clientX - box.left) / box.width),
    cell((box.bottom - event.clientY) / box.height),
  ];
}

/** Move the cursor by an arrow key, or press with space or enter. */
function pressPlaneKey(event) {
  const step = event.shiftKey ? 10 : 2;
  const moves = {
    ArrowLeft: [-step, 0],
    ArrowRight: [step, 0],
    ArrowUp: [0, step],
    ArrowDown: [0, -step],
  };
  if (event.key in moves) {
    const [dx, dy] = moves[event.key];
    const { x, y } = page.cursor;
    change({ cursor: { x: clamp(x + dx, 0, SIDE - 1), y: clamp(y + dy, 0, SIDE - 1) } });
  } else if (event.key === " " || event.key === "Enter") {
    pressPlane(page.cursor.x, page.cursor.y);
  } else {
    return;
  }
  event.preventDefault();
}

/** Go to a round. */
function goToRound(round) {
  change({ round: clamp(round, 0, runOf(page.points).stumps.length) });
}

function listenToBoost() {
  for (const [name, { title }] of Object.entries(EXAMPLES)) {
    byId("examples").append(element("option", { value: name }, title));
  }
  byId("examples").addEventListener("change", (event) => {
    const example = EXAMPLES[event.target.value];
    if (example) change({ points: example.points(), round: ROUND_SHOWN });
    event.target.value = "";
  });
  for (const button of document.querySelectorAll("[data-tool]")) {
    button.addEventListener("click", () => change({ tool: Number(button.dataset.tool) }));
  }
  byId("plane").addEventListener("click", (event) => pressPlane(...placeOf(event)));
  byId("plane").addEventListener("keydown", pressPlaneKey);
  byId("round").addEventListener("input", (event) => goToRound(Number(event.target.value)));
  byId("round-next").addEventListener("click", () => goToRound(shownRound(page) + 1));
  byId("round-ten").addEventListener("click", () => goToRound(shownRound(page) + 10));
  byId("round-back").addEventListener("click", () => goToRound(shownRound(page) - 1));
  byId("round-zero").addEventListener("click", () => goToRound(0));
  byId("clear").addEventListener("click", () => change({ points: [], round: 0 }));
}
