// Selects that show and change a part of the state.

// A select of one class, or of the average of all; its values are indices of classes.
function startClassSelect(id, label) {
  const each = classNames.map((name, index) => ({ value: String(index), label: name }));
  const options = [{ value: "", label: "all, averaged" }, ...each];
  const toState = (value) => (value === "" ? null : classNames[Number(value)]);
  const fromState = (name) => (name === null ? "" : String(classNames.indexOf(name)));
  bindSelect(id, options, toState, fromState, "class");
  show(label, hasAverages);
}

function bindSelect(id, options, toState = same, fromState = same, key = id) {
  const select = find(id);
  const update = (changed) => {
    if (!changed || changed.has(key)) select.value = fromState(state[key]);
  };
  fillSelect(select, options);
  select.addEventListener("change", () => change({ [key]: toState(select.value) }));
  follow(update);
  update();
}

function same(value) {
  return value;
}
