// The sentence about the current cut.

function startSentence() {
  follow(writeSentence);
  writeSentence();
}

function writeSentence() {
  const chosen = state.cut === choice?.index;
  const badge = make("span", { className: "badge", textContent: "▲ the chosen cut" });
  const text = `${describeCut(state.cut)}: ${describeQuality()}${describeSize(state.cut)}`;
  find("sentence").replaceChildren(text, ...(chosen ? [badge] : []));
}

function describeCut(cut) {
  if (cuts) {
    const all = `${formatCount(data.n_features)} ${data.unit}`;
    return `${sayKept(cut)} of ${all} (${describeShares(cut)})`;
  }
  const ofClasses = hasAverages ? " per class on average" : "";
  const share = formatShare(first.fractions[cut]);
  return `${sayKept(cut)} ${data.unit}${ofClasses} (${share} of the ranked ones)`;
}

function describeShares(cut) {
  const ofFeatures = formatTenths(cuts.n_features[cut] / data.n_features);
  if (!hasAverages) return ofFeatures;
  const ofWeights = formatTenths(cuts.n_weights[cut] / cuts.n_weights.at(-1));
  return `${ofFeatures}, ${ofWeights} of the weights`;
}

function describeQuality() {
  const { values, errors } = trace(currentCurve(), state.measure, state.average, null);
  const value = formatMeasure(values[state.cut]) + formatError(errors[state.cut]);
  const name = sayAverage(state.average, state.measure);
  return `${name} ${value}${describeMethod()}${describeBest(values)}`;
}

function describeBest(values) {
  const best = findBest(values);
  if (best < 0) return "";
  if (best === state.cut) return ", the best";
  return `, best ${formatMeasure(values[best])} at ${sayKept(best)}`;
}

function describeMethod() {
  return currentCurve() > 0 ? ` by ${curveNames[currentCurve()]}` : "";
}

function describeSize(cut) {
  return cuts ? `; model ${formatSize(cuts.n_bytes[cut])}` : "";
}
