// The form, the scenario that it stands for, and the results of its two runs.
const CHOICES = {
  loss: [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20],
  delay: [1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300],
  queue: [2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000],
  cross: [0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95],
};
const TEXTS = {
  loss: percent => percent ? `${percent} %` : "none",
  delay: millis => `${millis} ms`,
  queue: packets => `${packets} packets`,
  cross: percent => percent ? `${percent} % of the rate` : "none",
};
// Transports, each with what it sets beside the defaults of a fetch and of a link.
const WLDR = '"links.router-server.recovery" = "wldr"', ACKED = '"links.router-server.recovery" = "acked"', CUBIC = '"fetch.congestion" = "cubic"';
const TRANSPORTS = {
  recoup: "",
  cubic: CUBIC,
  newreno: '"fetch.congestion" = "newreno"',
  compound: '"fetch.congestion" = "compound"',
  raaqm: '"fetch.congestion" = "raaqm"',
  "cubic, timer only": `${CUBIC}, "fetch.loss" = "timeout"`,
  "cubic over wldr": `${CUBIC}, ${WLDR}`,
  "cubic over acked": `${CUBIC}, ${ACKED}`,
  "recoup over wldr": WLDR,
  "16 in flight": '"fetch.congestion" = "fixed(window=16)"',
  "64 in flight": '"fetch.congestion" = "fixed(window=64)"',
  "256 in flight": '"fetch.congestion" = "fixed(window=256)"',
};
const START = { loss: 1, delay: 20, queue: 50, cross: 30, first: "recoup", second: "cubic" };
const SEED = 1;
const COMMAND = "recoup sim bad-link.toml --fresh -q\ncut -d, -f1,3,4 bad-link-results/runs.csv";
const COLOURS = ["ground", "line", "ink", "soft"];
const TABLES = [["window", "time_s", "window"], ["rto", "time_s", "rtt_s"], ["queue", "time_s", "packets"], ["segments", "arrived_s", "content_bytes"]];
const MICROS = 1e6;

const element = id => document.getElementById(id);
// What is printed in `runs.csv` has no quotes then.
const label = transport => transport.replace(",", "");

function scenario({ loss, delay, queue, cross, first, second }) {
  const point = transport => `"${label(transport)}" = { ${TRANSPORTS[transport]} }`.replace("{  }", "{}");
  const traffic = cross ? `
[applications.cross]
kind = "background"
link = "router-server"
arrival = "poisson(load=${cross / 100})"
` : "";
  return `title = "A bad link"
seeds = ${SEED}
stop = "120 s"

[topology]
links = ["client-router", "router-server"]

[link]
rate = "1 Gbit/s"
delay = "1 ms"
queue = "1000 packets"

[links.router-server]
rate = "10 Mbit/s"
delay = "${delay} ms"
queue = "${queue} packets"
loss = "${loss ? `bernoulli(p=${Number((loss / 100).toPrecision(6))})` : "none"}"

[applications.client]
kind = "fetch"
node = "client"
object = "/file"

[applications.server]
kind = "serve"
node = "server"
prefix = "/file"
size = "4 MB"
segment = "1200 B"
${traffic}
[record]
tables = ["window", "rto", "queue(every=10ms)", "segments"]
links = true

[sweep.transport]
${point(first)}
${point(second)}
`;
}

// Rows of the table: a title, the metric, and how its value is written.
const count = value => value.toFixed(0), millis = value => `${(value * 1e3).toFixed(1)} ms`;
const ROWS = [
  ["Time", "client.time_s", value => `${value.toFixed(2)} s`, "not complete"],
  ["Goodput", "client.goodput_bps", value => `${(value / 1e6).toFixed(2)} Mbit/s`],
  ["Retransmissions", "client.retransmissions", count],
  ["Timeouts", "client.timeouts", count],
  ["Window, mean", "client.window_mean", value => value.toFixed(1)],
  ["Round trip, mean", "client.rtt_mean_s", millis],
  ["Round trip, 95 %", "client.rtt_p95_s", millis],
  ["Packets queued, mean", "link.router-server.back.queue_mean", value => value.toFixed(1)],
  ["Packets lost", "all.lost", count],
];

// The two runs as the curves of a network page want them: times in microseconds.
function asRun(results) {
  const times = values => values.map(value => value * MICROS), curves = [], arrivals = { application: [], ended: [], bytes: [] };
  results.forEach(({ tables, end }, of) => {
    const until = end * MICROS;
    const { window: windows, rto, queue, segments } = tables;
    curves.push({ measure: "window", of, tint: of, until, at: times(windows.time_s), value: windows.window });
    curves.push({ measure: "RTT", of, tint: of, until, at: times(rto.time_s), value: rto.rtt_s.map(value => value * 1e3) });
    const rows = [...queue.link.keys()].filter(k => queue.link[k] === "router-server" && queue.direction[k] === "back");
    curves.push({ measure: "queue", of, tint: of, until, at: rows.map(k => queue.time_s[k] * MICROS), value: rows.map(k => queue.packets[k]) });
    segments.arrived_s.forEach((at, k) => {
      if (!(at >= 0)) return;
      arrivals.application.push(of); arrivals.ended.push(at * MICROS); arrivals.bytes.push(segments.content_bytes[k]);
    });
  });
  const names = results.map(({ label, end }) => Object.assign([label.replace(/^transport=/, "")], { until: end * MICROS }));
  return { end: Math.max(...results.map(({ end }) => end)) * MICROS, seconds: 1 / MICROS, applications: names, channels: names.map(([name]) => ({ name })), curves, segments: arrivals };
}

function start() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)"), colours = {};
  const state = { ...START, ...fromAddress() };
  let worker = null, sent = 0, curves = null, run = null, share = 0.25, scene = "";

  for (const [name, values] of Object.entries(CHOICES)) {
    const slider = element(name);
    slider.max = values.length - 1;
    slider.value = values.indexOf(state[name]);
    slider.addEventListener("input", () => { state[name] = values[slider.value]; update(); });
  }
  for (const name of ["first", "second"]) {
    element(name).append(...Object.keys(TRANSPORTS).map(transport => new Option(transport)));
    element(name).addEventListener("change", event => { state[name] = event.target.value; update(); });
  }
  element("form").addEventListener("submit", event => event.preventDefault());

  // The state of a page that somebody was sent, as far as it is one.
  function fromAddress() {
    const given = {}, fields = new URLSearchParams(location.hash.slice(1));
    for (const [name, values] of Object.entries(CHOICES)) if (fields.has(name) && values.includes(Number(fields.get(name)))) given[name] = Number(fields.get(name));
    for (const name of ["first", "second"]) if (fields.get(name) in TRANSPORTS) given[name] = fields.get(name);
    return given;
  }

  function update() {
    for (const [name, values] of Object.entries(CHOICES)) {
      const text = TEXTS[name](state[name]), slider = element(name);
      element(`${name}-text`).textContent = text;
      slider.setAttribute("aria-valuetext", text);
    }
    for (const [name, other] of [["first", "second"], ["second", "first"]]) {
      element(name).value = state[name];
      for (const option of element(name).options) option.disabled = option.value === state[other];
      element(`${name}-name`).textContent = label(state[name]);
    }
    scene = scenario(state);
    element("toml").textContent = scene;
    element("save").href = `data:text/plain;charset=utf-8,${encodeURIComponent(scene)}`;
    for (const id of ["totals", "digests"]) element(id).classList.add("stale");
    sent += 1;
    worker.postMessage({ id: sent, text: scene, seed: SEED, metrics: ROWS.map(([, name]) => name), tables: TABLES });
  }

  function receive({ data }) {
    if (data.error) return fail(data);
    // A result of a form that has changed is shown without its totals.
    const { results, millis } = data;
    element("notice").hidden = true;
    run = asRun(results);
    element("curves").replaceChildren();
    curves = makeCurves(run, element("curves"), () => dark.matches, seek, paint);
    paint();
    const speed = `${results.length} runs in ${millis < 100 ? millis.toFixed(1) : millis.toFixed(0)} ms`;
    element("speed-of-run").textContent = speed;
    if (data.id !== sent) return;
    history.replaceState(null, "", `#${new URLSearchParams(state)}`);
    element("totals").replaceChildren(...ROWS.map(([title, metric, text, absent]) => {
      const row = document.createElement("tr"), head = row.appendChild(document.createElement("th"));
      head.scope = "row";
      head.textContent = title;
      for (const { metrics } of results) row.appendChild(document.createElement("td")).textContent = metrics[metric] === undefined ? absent || "" : text(metrics[metric]);
      return row;
    }));
    const lines = results.map(({ label, digest }) => `${label.replace(/^transport=/, "")},${SEED},${digest}`);
    element("digests").textContent = ["transport,seed,digest", ...lines].join("\n");
    for (const id of ["totals", "digests"]) element(id).classList.remove("stale");
  }

  function fail({ error, ended }) {
    element("notice").textContent = `The simulation failed: ${error}`;
    element("notice").hidden = false;
    // The memory of an engine that has stopped is unknown.
    if (ended) begin();
  }

  function seek(at) {
    share = Math.min(1, Math.max(0, at / run.end));
    curves.follow(share * run.end);
    curves.values(share * run.end);
  }

  function paint() {
    const style = getComputedStyle(document.documentElement);
    for (const name of COLOURS) colours[name] = style.getPropertyValue(`--${name}`).trim();
    if (!curves) return;
    curves.draw(colours);
    seek(share * run.end);
  }
  dark.addEventListener("change", paint);
  new ResizeObserver(paint).observe(element("curves"));

  async function copy(text, what) {
    try { await navigator.clipboard.writeText(text); element("copied").textContent = `${what} is copied.`; }
    catch { element("copied").textContent = "This browser does not let the page copy; mark the text."; }
  }
  element("command").textContent = COMMAND;
  element("copy-command").addEventListener("click", () => copy(COMMAND, "The command"));
  element("copy-scenario").addEventListener("click", () => copy(scene, "The scenario"));

  function begin() {
    worker?.terminate();
    worker = makeWorker();
    worker.onmessage = receive;
    worker.onerror = event => fail({ error: event.message });
  }
  begin();
  if (state.second === state.first) state.second = Object.keys(TRANSPORTS).find(transport => transport !== state.first);
  update();
}
