// Runs scenarios beside the page: the newest one that it was given, in slices, so that a newer one can end it.
const SLICE = 8, PATIENCE = 400;
let newest = null, busy = false;
const channel = new MessageChannel(), waiting = [];
channel.port1.onmessage = () => waiting.shift()();
const pause = () => new Promise(go => { waiting.push(go); channel.port2.postMessage(0); });

self.onmessage = ({ data }) => {
  if (data.engine) { wasm_bindgen.initSync({ module: data.engine }); return; }
  newest = data;
  if (!busy) work();
};

async function work() {
  busy = true;
  while (newest) {
    const job = newest;
    newest = null;
    try {
      const answer = await simulate(job);
      if (answer) self.postMessage(answer);
    } catch (error) {
      self.postMessage({ id: job.id, error: error.message || String(error), ended: error instanceof WebAssembly.RuntimeError });
    }
  }
  busy = false;
}

async function simulate({ id, text, points, seed, metrics, tables }) {
  const begun = performance.now(), results = [];
  const scenarios = new wasm_bindgen.Scenarios(text), labels = scenarios.labels();
  for (const point of points || labels.keys()) {
    const run = scenarios.run(point, BigInt(seed));
    let step = 0.01, ended = false;
    while (!ended) {
      const before = performance.now();
      ended = run.advance(step);
      const now = performance.now(), took = now - before;
      if (took < SLICE / 2) step *= 2; else if (took > SLICE * 2) step = Math.max(step / 2, 1e-6);
      if (now - begun < SLICE) continue;
      await pause();
      // Short runs are worth their end: the page then follows a slider that is dragged on.
      if (newest && performance.now() - begun > PATIENCE) { run.free(); scenarios.free(); return null; }
    }
    const made = run.finish(), kept = { label: labels[point], digest: made.digest(), end: made.end(), metrics: {}, tables: {} };
    for (const name of metrics || []) kept.metrics[name] = made.metric(name);
    for (const [table, ...columns] of tables || []) {
      kept.tables[table] = Object.fromEntries(columns.map(column => [column, made.numbers(table, column)]));
      if (table === "queue") for (const column of ["link", "direction"]) kept.tables[table][column] = made.words(table, column);
    }
    made.free();
    results.push(kept);
  }
  scenarios.free();
  return { id, results, millis: performance.now() - begun };
}
