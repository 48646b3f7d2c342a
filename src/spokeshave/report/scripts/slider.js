// The slider over the cuts.

function startSlider() {
  const slider = find("cut");
  slider.max = first.fractions.length - 1;
  slider.addEventListener("input", () => change({ cut: Number(slider.value) }));
  find("back").addEventListener("click", () => change({ cut: choice.index }));
  show("back", choice !== null);
  find("ticks").replaceChildren(...first.fractions.map(makeTick));
  follow(moveSlider);
  moveSlider();
  show("bar");
}

function makeTick(fraction, cut) {
  const tick = make("i", { className: cut === choice?.index ? "chosen" : "" });
  tick.style.left = `${(100 * cut) / Math.max(first.fractions.length - 1, 1)}%`;
  return tick;
}

function moveSlider() {
  const slider = find("cut");
  slider.value = state.cut;
  slider.setAttribute("aria-valuetext", describeCut(state.cut));
  setText(find("at"), `${sayKept(state.cut)} ${data.unit}`);
  find("back").disabled = state.cut === choice?.index;
}
