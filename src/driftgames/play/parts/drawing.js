// Elements, scales and small charts.

const SVG = "http://www.w3.org/2000/svg"; // a name, not an address: nothing is loaded

/** Return the element of the page with this id. */
function byId(id) {
  return document.getElementById(id);
}

/** Return a new HTML element. */
function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return a new SVG element. */
function shape(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Return the map of [low, high] to [from, to]. */
function scale(low, high, from, to) {
  const factor = (to - from) / (high - low || 1);
  return (value) => from + (value - low) * factor;
}

/** Return the path through points. */
function path(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}

/** Return round numbers between low and high, about `count` of them. */
function ticks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found;
}

/** Return a tick as text. */
function tickText(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

/** Make an SVG as wide as its place and empty it; return its width. */
function clearDrawing(svg, height) {
  const width = Math.max(svg.parentElement.clientWidth, 240);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height}px`;
  svg.replaceChildren();
  return width;
}

/** Draw axes with the names [x, y] for a chart and return its scales: { x, y, svg }. */
function drawAxes(svg, { label, names, xs, ys, height = 132, format = tickText }) {
  const width = clearDrawing(svg, height);
  const [left, right, top, bottom] = [44, width - 14, 20, height - 20];
  const x = scale(...xs, left, right);
  const y = scale(...ys, bottom, top);
  svg.setAttribute("class", "chart");
  svg.setAttribute("aria-label", label);
  for (const tick of ticks(...ys, 3)) {
    svg.append(shape("line", { class: "axis", x1: left, x2: right, y1: y(tick), y2: y(tick) }));
    svg.append(shape("text", { x: left - 5, y: y(tick) + 4, "text-anchor": "end" }, format(tick)));
  }
  for (const tick of ticks(...xs, 6)) {
    const place = { x: x(tick), y: height - 5, "text-anchor": "middle" };
    svg.append(shape("text", place, tickText(tick)));
  }
  svg.append(shape("text", { class: "axis-name", x: 2, y: 11 }, names[1]));
  const place = { class: "axis-name", x: right, y: 11, "text-anchor": "end" };
  svg.append(shape("text", place, `${names[0]} →`));
  return { svg, x, y, left, right, top, bottom };
}

/** Draw a line through [x, y] pairs on a chart. */
function drawLine(chart, points, className) {
  const d = path(points.map(([x, y]) => [chart.x(x), chart.y(y)]));
  chart.svg.append(shape("path", { class: `line ${className}`, d }));
}

/** Shade a chart between two values of x. */
function shade(chart, from, to, className) {
  const [x1, x2] = [
    clamp(chart.x(from), chart.left, chart.right),
    clamp(chart.x(to), chart.left, chart.right),
  ];
  const place = {
    x: x1,
    y: chart.top,
    width: Math.max(x2 - x1, 0),
    height: chart.bottom - chart.top,
  };
  chart.svg.append(shape("rect", { class: className, ...place }));
}

/**
 * Show names and values; a value may be [text, class name].
 *
 * `meanings` says what a name means: on hover, and below the list when the name is pressed.
 */
function showFacts(list, facts, meanings) {
  const below = list.nextElementSibling;
  list.replaceChildren(
    ...Object.entries(facts).map(([name, value]) => {
      const [text, className] = Array.isArray(value) ? value : [value, ""];
      const open = list.dataset.open === name;
      const ask = element(
        "button",
        { type: "button", class: "ask", title: meanings[name], "aria-expanded": String(open) },
        name,
      );
      ask.addEventListener("click", () => {
        list.dataset.open = open ? "" : name;
        showFacts(list, facts, meanings);
      });
      const dd = element("dd", { class: className, title: meanings[name] }, text);
      return element("div", {}, element("dt", {}, ask), dd);
    }),
  );
  below.textContent = meanings[list.dataset.open] ?? "";
}

/** Fill a table with a row of headers and rows of texts. */
function showTable(table, headers, rows) {
  const line = (tag, cells) => element("tr", {}, ...cells.map((c) => element(tag, {}, String(c))));
  table.replaceChildren(
    element("thead", {}, line("th", headers)),
    element("tbody", {}, ...rows.map((cells) => line("td", cells))),
  );
}
