// Tiles with quality and cost at the current cut.

function startTiles() {
  follow(writeTiles);
  writeTiles();
  show("quality");
}

function writeTiles() {
  const averages = hasAverages ? ["macro", "micro"] : ["macro"];
  find("tiles").replaceChildren(...averages.map(makeQualityTile), ...makeCostTiles());
}

function makeTile(name, value, aside, under) {
  return make(
    "dl",
    { className: "tile" },
    make("dt", { textContent: capitalize(name) }),
    make("dd", { className: "value" }, value, make("small", { textContent: aside })),
    make("dd", { className: "under" }, ...under),
  );
}

function makeQualityTile(average) {
  const { values, errors } = trace(currentCurve(), state.measure, average, null);
  const value = values[state.cut];
  const best = values[findBest(values)] ?? null;
  return makeTile(
    sayAverage(average, state.measure),
    formatMeasure(value),
    formatError(errors[state.cut]),
    [
      ...makeComparison("best", best, value),
      make("br"),
      ...makeComparison(sayAll(), values.at(-1), value),
    ],
  );
}

function makeComparison(name, reference, value) {
  const difference = subtract(value, reference);
  const className = judgeDifference(difference);
  const text = formatDifference(difference);
  return [`${name} ${formatMeasure(reference)} `, make("span", { className, textContent: text })];
}

function makeCostTiles() {
  if (!cuts) return [];
  const { n_features: kept, n_weights: weights, n_bytes: bytes, per_document: found } = cuts;
  const share = formatTenths(kept[state.cut] / data.n_features);
  const all = `of ${formatCount(data.n_features)} (${share})`;
  const inAll = `of ${formatMean(data.per_document)}`;
  return [
    makeCostTile(`${data.unit} kept`, kept, formatCount, all),
    makeCostTile("weights", weights, formatCount),
    makeCostTile("model file", bytes, formatSize),
    makeCostTile(`${data.unit} per document`, found, formatMean, inAll),
  ];
}

function makeCostTile(name, costs, format, under = `${sayAll()}: ${format(costs.at(-1))}`) {
  return makeTile(name, format(costs[state.cut]), "", [under]);
}
