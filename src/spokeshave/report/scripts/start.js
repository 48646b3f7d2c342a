// Start every section; sections without data stay hidden.

function writeFacts() {
  const classes = record.classes.length;
  const facts = [
    `${formatCount(data.n_documents)} documents`,
    classes ? `${formatCount(classes)} classes` : null,
    `${formatCount(data.n_features)} ${data.unit}`,
    data.n_test === null ? null : `${formatCount(data.n_test)} test documents`,
  ];
  setText(find("facts"), facts.filter((fact) => fact !== null).join(" · "));
}

function writeContents() {
  const titles = document.querySelectorAll("main > section:not([hidden]) > h2");
  const links = [...titles].map(({ parentElement: { id }, textContent }) =>
    make("a", { href: `#${id}`, textContent }),
  );
  find("contents").replaceChildren(...links);
}

async function start() {
  startAddress();
  writeFacts();
  if (first) {
    startSlider();
    startSentence();
    startTiles();
  }
  startClasses();
  startWords();
  startModels();
  startTrials();
  startMaking();
  await Promise.all([first ? startCurve() : undefined, startStability(), startShapes()]);
  writeContents();
  document.documentElement.dataset.ready = "true";
}

start();
