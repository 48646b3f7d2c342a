// The similarity of masked and retrained SVMs at each cut.

async function startStability() {
  if (!record.stability) return undefined;
  if (first) startClassSelect("stability-class", "stability-label");
  else show("stability-label", false);
  fillLegend("stability-legend", Object.keys(record.stability.macro));
  show("stability");
  const view = await draw("#stability-chart", "stability", { points: listSimilarities() });
  if (!first) return view;
  moveOnClick(view);
  follow((changed) => redrawStability(view, changed));
  return moveRule(view);
}

function redrawStability(view, changed) {
  if (changed.has("class")) view.data("points", listSimilarities());
  return moveRule(view);
}

function listSimilarities() {
  const { names, fractions, macro, classes } = record.stability;
  const row = names.indexOf(state.class);
  return Object.keys(macro).flatMap((measure) => {
    const values = row < 0 ? macro[measure] : classes[measure]?.[row] ?? [];
    return fractions.flatMap((fraction, index) =>
      isKnown(values[index]) ? [makeSimilarity(measure, fraction, values[index])] : [],
    );
  });
}

function makeSimilarity(measure, fraction, value) {
  const cut = first ? findFraction(first, fraction) : -1;
  return { measure, fraction, value, cut, kept: formatShare(fraction), text: formatMeasure(value) };
}
