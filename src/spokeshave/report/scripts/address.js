// The state is part of the address of the page, so that a link opens the same view.

function startAddress() {
  Object.assign(state, first ? readAddress() : defaultState());
  if (!first) return;
  follow(writeAddress);
  addEventListener("hashchange", () => {
    if (location.hash.includes("=")) change(readAddress());
  });
}

function readAddress() {
  const asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const changes = defaultState();
  const cut = Number.parseInt(asked.cut, 10);
  const method = curveNames.indexOf(asked.method);
  if (Number.isInteger(cut)) changes.cut = clampCut(cut);
  if (Object.hasOwn(first.measures, asked.measure)) changes.measure = asked.measure;
  if (["macro", "micro"].includes(asked.average)) changes.average = asked.average;
  if (classNames.includes(asked.class)) changes.class = asked.class;
  if (method >= 0) changes.method = method;
  return changes;
}

function writeAddress() {
  const usual = defaultState();
  const parts = new URLSearchParams();
  for (const key of Object.keys(usual)) {
    if (state[key] === usual[key]) continue;
    parts.set(key, key === "method" ? curveNames[state.method] : state[key]);
  }
  try {
    history.replaceState(null, "", `#${parts}`);
  } catch {
    // A page inside a frame may not change its address, and works without it.
  }
}
