// Time, controls and keys.
const COLOURS = ["ground", "line", "ink", "soft", "link", "interest", "data", "nack", "loss", "queue", "halo", "node"];

const MOST_ROWS = 200;

function play(run) {
  const element = id => document.getElementById(id), slider = element("time"), speedSlider = element("speed");
  const dark = window.matchMedia("(prefers-color-scheme: dark)"), colours = {};
  let time = 0, playing = false, before = 0, speed = 1, counts = null, seen = 0;

  const network = makeNetwork(run, element("network"), element("tip"), colours, name => segments.select(name));
  const curves = makeCurves(run, element("curves"), () => dark.matches, seek, () => { curves.draw(colours); show(); });
  const segments = makeSegments(run, seek, name => { network.choose(name); show(); });

  function show(quick) {
    counts = network.draw(time, speed);
    if (curves.follow(time)) curves.draw(colours);
    slider.value = time;
    element("now").textContent = run.text(time);
    segments.follow(time);
    // Numbers that nobody could read at the rate of frames.
    const now = performance.now();
    if (quick && now - seen < 150) return;
    seen = now;
    slider.setAttribute("aria-valuetext", run.text(time));
    curves.values(time);
    if (element("links").open) fillLinks();
  }

  function fillLinks() {
    const rows = run.channels.slice(0, MOST_ROWS).map(({ from, to, curve, lost }, k) => {
      const row = document.createElement("tr");
      const cells = [`${run.node(from)} to ${from === to ? "all" : run.node(to)}`, counts[k], curve ? valueAt(curve, time) : 0, upTo(lost, time)];
      for (const cell of cells) row.appendChild(document.createElement("td")).textContent = cell;
      return row;
    });
    element("rows").replaceChildren(...rows);
    element("rest").textContent = run.channels.length > MOST_ROWS ? `and ${run.channels.length - MOST_ROWS} more` : "";
  }
  element("links").addEventListener("toggle", () => show());

  function speak() {
    const inside = counts.reduce((sum, count) => sum + count, 0);
    element("spoken").textContent = `${run.text(time)}: ${inside} packets on links`;
  }

  function seek(to) {
    time = Math.min(run.end, Math.max(0, to));
    show();
    if (!playing) speak();
  }

  function setPlaying(on) {
    playing = on;
    if (on && time >= run.end) time = 0;
    const button = element("play");
    button.classList.toggle("on", on);
    button.setAttribute("aria-label", on ? "Pause" : "Play");
    if (on) { before = performance.now(); requestAnimationFrame(frame); }
    else { show(); speak(); }
  }

  function frame(now) {
    if (!playing) return;
    time += Math.min(0.1, Math.max(0, (now - before) / 1e3)) * speed / run.seconds;
    before = now;
    if (time >= run.end) { time = run.end; return setPlaying(false); }
    show(true);
    requestAnimationFrame(frame);
  }

  function setSpeed(power) {
    power = Math.min(10, Math.max(-20, power));
    speedSlider.value = power;
    speed = 2 ** power;
    const text = power < 0 ? `1/${(2 ** -power).toLocaleString("en")} of real time` : power > 0 ? `${2 ** power} times real time` : "real time";
    element("factor").textContent = text;
    speedSlider.setAttribute("aria-valuetext", text);
  }

  // The event before or after the time: a packet is sent, or leaves its link.
  function step(forward) {
    const { sent } = run.packets, { ends } = run;
    const after = [sent, ends].map(column => column[upTo(column, time)]).filter(at => at !== undefined);
    const earlier = [sent, ends].map(column => column[upTo(column, time - 1) - 1]).filter(at => at !== undefined);
    setPlaying(false);
    seek(forward ? Math.min(run.end, ...after) : Math.max(0, ...earlier));
  }

  function loss(forward) {
    const times = run.lossTimes, k = forward ? upTo(times, time) : upTo(times, time - 1) - 1;
    setPlaying(false);
    if (times[k] === undefined) { element("spoken").textContent = forward ? "no later loss" : "no earlier loss"; return; }
    seek(times[k]);
    const { packet, mark } = run.losses[k], name = packet === undefined ? run.marks.name[mark] : run.packets.name[packet];
    if (name !== NONE) segments.select(name);
  }

  const actions = {
    " ": () => setPlaying(!playing), ArrowLeft: () => step(false), ArrowRight: () => step(true), p: () => loss(false), n: () => loss(true),
    Home: () => seek(0), End: () => seek(run.end), "+": () => setSpeed(Number(speedSlider.value) + 1), "-": () => setSpeed(Number(speedSlider.value) - 1),
  };
  document.addEventListener("keydown", event => {
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    // A field keeps its keys: a slider those that move it, a button the one that presses it.
    const { target, key } = event, isSlider = target.type === "range";
    const inField = isSlider ? key.length > 1 : target.closest("input, select"), onButton = key === " " && target.closest("button, summary");
    if (!action || inField || onButton || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  element("play").addEventListener("click", () => setPlaying(!playing));
  element("step").addEventListener("click", () => step(true));
  element("back").addEventListener("click", () => step(false));
  element("next").addEventListener("click", () => loss(true));
  element("previous").addEventListener("click", () => loss(false));
  slider.addEventListener("input", () => seek(Number(slider.value)));
  speedSlider.addEventListener("input", () => setSpeed(Number(speedSlider.value)));
  const zoom = factor => { curves.zoom(time, factor); curves.draw(colours); show(); };
  element("closer").addEventListener("click", () => zoom(0.5));
  element("farther").addEventListener("click", () => zoom(2));
  element("whole").addEventListener("click", () => zoom(Infinity));

  // Losses over the slider.
  function drawLosses() {
    const canvas = element("losses"), ratio = window.devicePixelRatio || 1, context = canvas.getContext("2d");
    canvas.width = Math.round(canvas.clientWidth * ratio); canvas.height = Math.round(canvas.clientHeight * ratio);
    context.fillStyle = colours.loss;
    const inset = 8 * ratio, width = canvas.width - 2 * inset;
    let last = -1;
    for (const at of run.lossTimes) {
      const x = Math.round(inset + at / run.end * width);
      if (x !== last) context.fillRect(x, 0, ratio, canvas.height);
      last = x;
    }
  }

  function repaint() {
    const style = getComputedStyle(document.documentElement);
    for (const name of COLOURS) colours[name] = style.getPropertyValue(`--${name}`).trim();
    network.resize();
    curves.draw(colours);
    drawLosses();
    show();
  }
  dark.addEventListener("change", repaint);
  new ResizeObserver(repaint).observe(element("network"));

  slider.max = run.end;
  // A packet takes about a second to pass a link.
  const flights = [];
  for (let k = 0; k < run.packets.sent.length && flights.length < 10000; k++) if (run.packets.left[k] !== NONE && !run.packets.lost[k]) flights.push(run.packets.left[k] - run.packets.sent[k]);
  flights.sort((a, b) => a - b);
  setSpeed(Math.round(Math.log2(Math.max(1e-9, (flights[flights.length >> 1] || run.end / 30) * run.seconds))));
  if (run.omitted) {
    element("notice").hidden = false;
    element("notice").textContent = `This page shows the first ${run.packets.sent.length.toLocaleString("en")} packets, until ${run.text(run.end)}. ${run.omitted.toLocaleString("en")} packets were sent later.`;
  }
  element("network").setAttribute("aria-label", `The network: ${run.nodes.length} nodes, ${run.links.length} links. The table of links has the numbers.`);
  repaint();
}

readRun().then(play, error => {
  const notice = document.getElementById("notice");
  notice.hidden = false;
  notice.textContent = `This browser cannot show the run: ${error.message}`;
});
