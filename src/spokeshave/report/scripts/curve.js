// The chart of quality at every cut, and its controls.

async function startCurve() {
  startMeasures();
  startMethods();
  startClassSelect("class", "class-label");
  fillLegend("curve-legend", curveNames);
  show("curve");
  writeCurveNote();
  const view = await draw("#curve-chart", "curve", { points: listPoints(), marks: listMarks() });
  moveOnClick(view);
  follow((changed) => redrawCurve(view, changed));
  return moveRule(view);
}

function startMeasures() {
  const measures = Object.keys(first.measures).map((value) => ({ value, label: say(value) }));
  bindSelect("measure", measures);
  bindSelect("average", ["macro", "micro"].map((value) => ({ value, label: value })));
  show("average-label", hasAverages);
}

function startMethods() {
  const each = curveNames.map((label, index) => ({ value: String(index), label }));
  const options = [{ value: "", label: "all methods" }, ...each];
  const toState = (value) => (value === "" ? null : Number(value));
  bindSelect("method", options, toState, (method) => (method === null ? "" : String(method)));
  show("method-label", curves.length > 1);
}

function redrawCurve(view, changed) {
  const isMoveOnly = changed.size === 1 && changed.has("cut");
  if (!isMoveOnly) view.data("points", listPoints()).data("marks", listMarks());
  return moveRule(view);
}

function listPoints() {
  const shown = state.method === null ? curves.map((_, index) => index) : [state.method];
  return shown.flatMap(listPointsOf);
}

function listPointsOf(curve) {
  const { values, errors } = trace(curve, state.measure, state.average, state.class);
  return values.flatMap((value, cut) =>
    isKnown(value) ? [makePoint(curve, cut, value, errors[cut])] : [],
  );
}

function makePoint(curve, cut, value, error) {
  const fraction = first.fractions[cut];
  const { class: name } = state;
  const kept = name === null ? meanFeatures(cut, curve) : keptFeatures(name, cut, curve);
  const ofClasses = name === null && hasAverages ? " per class" : "";
  return {
    method: curveNames[curve],
    fraction,
    cut,
    value,
    low: value - (error ?? 0),
    high: value + (error ?? 0),
    kept: `${formatShare(fraction)}, ${formatCount(kept)} ${data.unit}${ofClasses}`,
    text: `${say(state.measure)} ${formatMeasure(value)}${formatError(error)}`,
  };
}

function listMarks() {
  const { values } = trace(currentCurve(), state.measure, state.average, state.class);
  const best = findBest(values);
  const chosen = choice?.index ?? -1;
  if (best === chosen) return listMark(values, best, "chosen, best");
  const isLifted = chosen >= 0 && Math.abs(best - chosen) < 2;
  return [...listMark(values, best, "best", isLifted), ...listMark(values, chosen, "chosen")];
}

function listMark(values, cut, label, isLifted = false) {
  if (!isKnown(values[cut])) return [];
  return [{ fraction: first.fractions[cut], value: values[cut], cut, label, isLifted }];
}

function writeCurveNote() {
  const note = find("curve-note");
  const band = first.n_folds > 1 ? " Bands are ± 1 standard error over the folds." : "";
  setText(note, `Measured ${sayWhere(first)}.${band}${describeChoice()}`);
  note.classList.toggle("warning", choice?.evaluated_on === "test set");
}

function describeChoice() {
  if (!choice) return "";
  const measure = sayAverage(choice.average, choice.measure);
  const chosen = ` The cut was chosen by ${measure}: ${choice.rule}.`;
  if (choice.evaluated_on !== "test set") return chosen;
  return `${chosen} It was chosen on the test set, so its quality there is optimistic.`;
}
