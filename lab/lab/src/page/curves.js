// Curves below the network: window, round-trip time, goodput and queue over the same span of time.
const MOST_CURVES = 6, LEFT = 52, BOTTOM = 16;
const PALETTE = { light: ["#1f6fc4", "#c25e05", "#23794d", "#7c4dbd", "#8a6d00", "#b0407c"], dark: ["#67aef7", "#f2a04a", "#5fcf94", "#bd9af0", "#e0c04a", "#f08cc0"] };

function makeCurves(run, box, isDark, seek, repaint) {
  const { segments } = run;
  const view = { from: 0, to: run.end };
  const app = k => run.applications[k][0];
  const stepped = (measure, name) => run.curves.filter(it => it.measure === measure).map(it => ({ name: name(it.of), tint: it.tint, until: it.until, curve: it, steps: true }));
  const way = k => run.channels[k].name || `${run.node(run.channels[k].from)} to ${run.node(run.channels[k].to)}`;
  const highest = series => series.curve.value.reduce((most, value) => Math.max(most, value), 0);
  // Consumers of a catalogue may have no limit, which is a very large number.
  const isLimit = window => window < 1e9;
  const longest = stepped("queue", way).map(it => ({ ...it, most: highest(it) })).filter(it => it.most > 0).sort((a, b) => b.most - a.most);
  const consumers = [...new Set(segments.application)].sort((a, b) => a - b);
  // Content that arrived, by consumer: sums of bytes in the order of arrival.
  const arrived = consumers.map(id => {
    const rows = [];
    segments.application.forEach((of, k) => { if (of === id && segments.bytes[k] > 0) rows.push(k); });
    rows.sort((a, b) => segments.ended[a] - segments.ended[b]);
    const at = Uint32Array.from(rows, k => segments.ended[k]), sum = new Float64Array(rows.length + 1);
    rows.forEach((k, n) => { sum[n + 1] = sum[n] + segments.bytes[k]; });
    return { name: app(id), until: run.applications[id].until, bytes: (from, to) => sum[upTo(at, to)] - sum[upTo(at, from)] };
  });
  const panels = [
    { title: "Window", unit: "segments", all: stepped("window", app).filter(it => it.curve.value.some(isLimit)) },
    { title: "Round-trip time", unit: "ms", all: stepped("RTT", app).map(it => ({ ...it, steps: false })) },
    { title: "Goodput", unit: "Mbit/s", all: arrived, bins: true },
    { title: "Queue", unit: "packets", all: longest },
  ].filter(panel => panel.all.length);

  // The curves that a panel shows: so many from one on, and a button for those after them.
  function choose(panel, first) {
    panel.first = first < panel.all.length ? first : 0;
    panel.series = panel.all.slice(panel.first, panel.first + MOST_CURVES);
    const items = panel.series.map((series, k) => {
      series.tint ??= k;
      const item = document.createElement("li");
      series.swatch = item.appendChild(document.createElement("i"));
      item.append(`${series.name} `);
      series.shown = item.appendChild(document.createElement("b"));
      return item;
    });
    if (panel.all.length > MOST_CURVES) {
      const item = document.createElement("li"), button = item.appendChild(document.createElement("button"));
      button.textContent = `${panel.first + 1} to ${panel.first + items.length} of ${panel.all.length}: show the next`;
      button.addEventListener("click", () => {
        choose(panel, panel.first + MOST_CURVES);
        repaint();
        panel.legend.querySelector("button").focus();
      });
      items.push(item);
    }
    panel.legend.replaceChildren(...items);
    panel.canvas.setAttribute("aria-label", `${panel.title} over time, of ${panel.series.map(it => it.name).join(", ")}`);
  }

  for (const panel of panels) {
    const part = document.createElement("div");
    part.className = "panel";
    part.innerHTML = '<h3></h3><ul class="legend"></ul><div class="plot"><canvas role="img"></canvas><div class="cursor"></div></div>';
    part.querySelector("h3").textContent = `${panel.title} (${panel.unit})`;
    panel.legend = part.querySelector("ul");
    panel.legend.setAttribute("aria-label", `${panel.title} at this time`);
    panel.plot = part.querySelector(".plot");
    panel.canvas = part.querySelector("canvas");
    choose(panel, 0);
    panel.cursor = part.querySelector(".cursor");
    box.append(part);
    const to = event => seek(timeAt(event.clientX - panel.plot.getBoundingClientRect().left, panel.plot.clientWidth));
    panel.plot.addEventListener("pointerdown", event => { panel.plot.setPointerCapture(event.pointerId); to(event); });
    panel.plot.addEventListener("pointermove", event => { if (event.buttons & 1) to(event); });
  }

  const timeAt = (x, width) => view.from + Math.min(1, Math.max(0, (x - LEFT) / (width - LEFT - 4))) * (view.to - view.from);
  const colour = series => PALETTE[isDark() ? "dark" : "light"][series.tint % MOST_CURVES];

  // A step of 1, 2 or 5 times a power of ten, of which `count` fit.
  function round(span, count) {
    const power = 10 ** Math.floor(Math.log10(span / count));
    return [1, 2, 5, 10].map(it => it * power).find(it => it * count >= span) || 10 * power;
  }
  const bin = () => Math.max(1, round((view.to - view.from) * run.seconds, 80) / run.seconds);
  const rate = (series, to) => series.bytes(to - bin(), to) * 8 / (bin() * run.seconds) / 1e6;

  // The points in view as [x, lowest, highest] of each column of pixels, and the last value before.
  function shape(panel, series, width) {
    const columns = [], to = Math.min(view.to, series.until ?? view.to), x = time => LEFT + (time - view.from) / (view.to - view.from) * (width - LEFT - 4);
    const add = (at, value) => {
      const last = columns[columns.length - 1], place = x(at);
      if (last && place - last.x < 0.7) last.low = Math.min(last.low, value), last.high = Math.max(last.high, value), last.end = value;
      else columns.push({ x: place, low: value, high: value, end: value });
    };
    if (panel.bins) {
      const size = bin();
      for (let from = Math.floor(view.from / size) * size; from < to; from += size) {
        const value = series.bytes(from, from + size) * 8 / (size * run.seconds) / 1e6;
        add(Math.max(from, view.from), value); add(Math.min(from + size, to), value);
      }
      return columns;
    }
    const { at, value } = series.curve, first = upTo(at, view.from), last = upTo(at, to);
    if (first > 0 && series.steps && view.from < to) add(view.from, value[first - 1]);
    for (let k = first; k < last; k++) add(at[k], value[k]);
    if (series.steps && last > 0 && view.from < to) add(to, value[last - 1]);
    return columns;
  }

  function draw(colours) {
    for (const panel of panels) {
      const ratio = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = panel.plot, context = panel.canvas.getContext("2d");
      panel.canvas.width = Math.round(width * ratio); panel.canvas.height = Math.round(height * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const shapes = panel.series.map(series => shape(panel, series, width));
      const most = Math.max(...shapes.flat().map(it => it.high), 0) * 1.08 || 1, base = height - BOTTOM;
      const y = value => base - value / most * (base - 6);
      axes(context, colours, most, y, width, base);
      shapes.forEach((columns, k) => {
        context.strokeStyle = context.fillStyle = colour(panel.series[k]); context.lineWidth = 1.5;
        panel.series[k].swatch.style.background = colour(panel.series[k]);
        if (!panel.series[k].steps && !panel.bins) {
          for (const { x, low, high } of columns) context.fillRect(x - 1, y(high) - 1, 2, y(low) - y(high) + 2);
          return;
        }
        context.beginPath();
        columns.forEach(({ x, low, high, end }, n) => {
          if (n === 0) context.moveTo(x, y(end));
          else { context.lineTo(x, y(columns[n - 1].end)); context.lineTo(x, y(low)); context.lineTo(x, y(high)); context.lineTo(x, y(end)); }
        });
        context.stroke();
      });
    }
  }

  function axes(context, colours, most, y, width, base) {
    context.font = "11px system-ui, sans-serif"; context.fillStyle = colours.soft; context.strokeStyle = colours.line; context.lineWidth = 1;
    context.textAlign = "right"; context.textBaseline = "middle";
    const step = round(most, 3);
    for (let value = 0; value <= most; value += step) {
      context.beginPath(); context.moveTo(LEFT, Math.round(y(value)) + 0.5); context.lineTo(width - 4, Math.round(y(value)) + 0.5); context.stroke();
      context.fillText(Number(value.toPrecision(6)), LEFT - 6, y(value));
    }
    context.textBaseline = "top"; context.textAlign = "center";
    const span = (view.to - view.from) * run.seconds, apart = round(span, Math.max(2, width / 130)), from = view.from * run.seconds;
    const digits = Math.max(0, -Math.floor(Math.log10(apart)));
    for (let at = Math.ceil(from / apart) * apart; at <= from + span * 1.0001; at += apart) {
      const x = LEFT + (at - from) / span * (width - LEFT - 4);
      if (x > LEFT - 1 && x < width - 14) context.fillText(`${at.toFixed(digits)} s`, Math.max(x, LEFT + 8), base + 4);
    }
  }

  // Moves the cursors; a view that is a part of the run follows the time. Returns whether the view has moved.
  function follow(time) {
    const span = view.to - view.from, moves = span < run.end && (time < view.from || time > view.to);
    if (moves) {
      view.from = Math.max(0, Math.min(time - span * 0.1, run.end - span));
      view.to = view.from + span;
    }
    for (const panel of panels) {
      const x = LEFT + (time - view.from) / span * (panel.plot.clientWidth - LEFT - 4);
      panel.cursor.style.transform = `translateX(${x}px)`;
    }
    return moves;
  }

  function values(time) {
    for (const panel of panels) for (const series of panel.series) {
      if (time > series.until) { series.shown.textContent = "ended"; continue; }
      const value = panel.bins ? rate(series, time) : valueAt(series.curve, time);
      series.shown.textContent = value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : Number(value.toFixed(2));
    }
  }

  function zoom(time, factor) {
    const span = Math.min(run.end, Math.max(run.end * 1e-6, (view.to - view.from) * factor));
    view.from = Math.max(0, Math.min(time - span / 2, run.end - span));
    view.to = view.from + span;
  }
  return { draw, follow, values, zoom };
}
