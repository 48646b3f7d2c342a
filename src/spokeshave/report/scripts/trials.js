// The representations that were tried before the curve, best of each round first.

function startTrials() {
  const { trials } = record;
  if (!trials.length) return;
  const heads = ["Terms", "Value", "Prior", "Loss", "C", "Documents", "Features", "Score", "Time"];
  const sorted = [...trials].sort(
    (a, b) => b.n_documents - a.n_documents || b.score - a.score,
  );
  find("trials-head").replaceChildren(makeRow(heads, "th"));
  find("trials-rows").replaceChildren(...sorted.map(makeTrial));
  setText(find("trials-lead"), describeTrials(trials));
  show("trials");
}

function describeTrials(trials) {
  const seconds = trials.reduce((sum, each) => sum + (each.seconds ?? 0), 0);
  const chosen = trials.find((each) => each.is_chosen);
  const winner = `${chosen.terms}, ${chosen.weighting}, prior of strength ${chosen.prior_strength}`;
  return `${formatCount(trials.length)} trials by cross-validation on more and more documents, ` +
    `${formatSeconds(seconds)} of work. Chosen: ${winner}, ${sayLoss(chosen)}, C = ${chosen.C}.`;
}

function sayLoss(trial) {
  return trial.class_weight ? `${trial.loss}, ${trial.class_weight} classes` : trial.loss;
}

function makeTrial(trial) {
  const row = makeRow([
    trial.terms,
    trial.weighting,
    String(trial.prior_strength),
    sayLoss(trial),
    String(trial.C),
    formatCount(trial.n_documents),
    formatCount(trial.n_features),
    formatMeasure(trial.score) + formatError(trial.error),
    formatSeconds(trial.seconds),
  ]);
  if (trial.is_chosen) row.classList.add("chosen");
  return row;
}
