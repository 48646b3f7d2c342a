// Elements of the page. Text is always set as text, so that no name can become markup.

function find(id) {
  return document.getElementById(id);
}

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function show(id, isShown = true) {
  find(id).hidden = !isShown;
}

function fillSelect(select, options) {
  select.replaceChildren(
    ...options.map(({ value, label }) => make("option", { value, textContent: label })),
  );
}

function fillNames(select, names) {
  fillSelect(select, names.map((label, index) => ({ value: String(index), label })));
}

function makePairs(pairs, isNumeric = false) {
  const className = isNumeric ? "number" : "";
  return make(
    "dl",
    { className: "pairs" },
    ...pairs.flatMap(([term, text]) => [
      make("dt", { textContent: term }),
      make("dd", { className, textContent: text }),
    ]),
  );
}

function makeRow(cells, cellTag = "td") {
  const [head, ...rest] = cells;
  const first = make("th", { textContent: head, scope: cellTag === "th" ? "col" : "row" });
  return make("tr", {}, first, ...rest.map((text) => make(cellTag, { textContent: text })));
}

function judgeDifference(value) {
  if (!isKnown(value) || Math.abs(value) < 0.0005) return "";
  return value > 0 ? "better" : "worse";
}
