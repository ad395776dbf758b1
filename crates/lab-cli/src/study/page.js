// Draws each figure of the page so that it can be asked: what is under the pointer, a part of it, some of its
// series. Without scripts the pictures that stand in the page remain.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg", W = 1000, L = 76, R = 16, T = 14;
  const COLOURS = ["#2b6cb0", "#d96b0b", "#2c8c5a", "#8a5fb3", "#808080", "#3fa7d6", "#b88a00", "#c25b9a"];
  const PAPER = "#c02d3e", INK = "#333a42";

  const make = (parent, name, attributes, text) => {
    const node = document.createElementNS(NS, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };
  const html = (parent, name, of, text) => {
    const node = document.createElement(name);
    if (of) node.className = of;
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  };
  // At most four digits that say something.
  const digits = value => value === 0 ? "0" : String(Number(value.toPrecision(4)));
  const ticks = (low, high, logarithmic) => {
    const marks = [];
    if (logarithmic) {
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
        for (const lead of [1, 2, 5]) marks.push(lead * 10 ** power);
    } else {
      const rough = (high - low) / 6, power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map(it => it * power).find(it => it >= rough);
      for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) + 1e-12; k++) marks.push(k * step);
    }
    return marks.filter(mark => mark >= low - 1e-12 && mark <= high * (1 + 1e-9) + 1e-12);
  };

  function show(box) {
    const figure = JSON.parse(box.querySelector("script").textContent);
    const names = figure.x.categories, bars = figure.series.filter(it => it.style === "bars");
    // Names of places that would overlap stand below their places.
    const longest = 8 * Math.max(0, ...names.map(it => it.length)), upright = longest * names.length > W - R - L;
    const B = upright ? 52 + longest : 56, H = 364 + B;
    let colour = 0;
    for (const series of figure.series)
      Object.assign(series, { shown: true, colour: { paper: PAPER, reference: INK }[series.style] || COLOURS[colour++ % COLOURS.length] });
    for (const series of figure.series) {
      const own = figure.series.find(it => it.name === series.paperOf);
      if (own) series.colour = own.colour;
    }
    const whole = () => {
      const points = figure.series.filter(it => it.shown).flatMap(it => it.points.map((p, k) => {
        const error = it.errors[k] || 0;
        const low = p[1] - error;
        return [p[0], figure.y.logarithmic && low <= 0 ? p[1] : low, p[1] + error];
      }));
      let x = [Infinity, -Infinity], y = [Infinity, -Infinity];
      for (const [a, low, high] of points) x = [Math.min(x[0], a), Math.max(x[1], a)], y = [Math.min(y[0], low), Math.max(y[1], high)];
      if (!points.length) x = [0, 1], y = [0, 1];
      if (names.length) x = [-0.6, names.length - 0.4];
      if (x[0] === x[1]) x[1] = x[0] + 1;
      else if (!figure.x.logarithmic && x[0] > 0 && x[0] < 0.1 * x[1]) x[0] = 0;
      if (!figure.y.logarithmic) y = [Math.min(0, y[0]), y[1] * 1.06 || 1];
      return { x, y };
    };
    let view = whole();

    box.replaceChildren(box.querySelector("script"));
    const svg = make(box, "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": figure.title });
    const tip = html(box, "div", "tip"), legend = html(box, "div", "legend"), run = html(box, "div", "run");
    run.setAttribute("role", "status");
    const scale = (axis, range, from, to) => {
      const f = axis.logarithmic ? Math.log10 : it => it, a = f(range[0]), b = f(range[1]);
      return { at: v => from + (f(v) - a) / (b - a) * (to - from),
               back: p => { const v = a + (p - from) / (to - from) * (b - a); return axis.logarithmic ? 10 ** v : v; } };
    };
    const label = axis => axis.unit ? `${axis.label} (${axis.unit})` : axis.label;
    // Bars of one place stand beside each other, dots do where places have names.
    const dots = names.length ? figure.series.filter(it => it.style === "dots") : [];
    const shift = series => {
      const beside = all => {
        const shown = all.filter(it => it.shown), place = shown.indexOf(series);
        return place < 0 ? 0 : (place - (shown.length - 1) / 2) / shown.length;
      };
      return 0.7 * beside(bars) + 0.4 * beside(dots);
    };
    let x, y;

    function draw() {
      x = scale(figure.x, view.x, L, W - R); y = scale(figure.y, view.y, H - B, T);
      svg.replaceChildren();
      const clip = `clip-${figure.id}`;
      make(make(svg, "clipPath", { id: clip }), "rect", { x: L, y: T, width: W - R - L, height: H - B - T });
      const text = { "font-size": 14, fill: "#333a42", "font-family": "inherit" };
      for (const mark of ticks(view.y[0], view.y[1], figure.y.logarithmic)) {
        make(svg, "line", { x1: L, x2: W - R, y1: y.at(mark), y2: y.at(mark), stroke: "#e6e9ec" });
        make(svg, "text", { ...text, x: L - 8, y: y.at(mark) + 5, "text-anchor": "end" }, digits(mark));
      }
      if (names.length) names.forEach((name, k) => {
        if (k < view.x[0] || k > view.x[1]) return;
        if (upright) make(svg, "text", { ...text, transform: `translate(${x.at(k) + 5} ${H - B + 8}) rotate(-90)`, "text-anchor": "end" }, name);
        else make(svg, "text", { ...text, x: x.at(k), y: H - B + 20, "text-anchor": "middle" }, name);
      });
      else for (const mark of ticks(view.x[0], view.x[1], figure.x.logarithmic)) {
        make(svg, "line", { x1: x.at(mark), x2: x.at(mark), y1: H - B, y2: H - B + 5, stroke: "#8a929a" });
        make(svg, "text", { ...text, x: x.at(mark), y: H - B + 20, "text-anchor": "middle" }, digits(mark));
      }
      make(svg, "path", { d: `M${L} ${T}V${H - B}H${W - R}`, fill: "none", stroke: "#8a929a" });
      make(svg, "text", { ...text, x: (L + W - R) / 2, y: H - 12, "text-anchor": "middle" }, label(figure.x));
      make(svg, "text", { ...text, transform: `translate(18 ${(T + H - B) / 2}) rotate(-90)`, "text-anchor": "middle" }, label(figure.y));
      const plot = make(svg, "g", { "clip-path": `url(#${clip})` });
      for (const series of figure.series) if (series.shown) plotSeries(plot, series);
    }

    function plotSeries(plot, series) {
      const { colour, style } = series, dx = shift(series);
      const at = p => [x.at(p[0] + dx), y.at(p[1])];
      if (style === "bars") {
        const half = 0.31 / Math.max(1, bars.filter(it => it.shown).length);
        for (const p of series.points) {
          const left = x.at(p[0] + dx - half), top = y.at(p[1]), foot = y.at(Math.max(0, view.y[0]));
          make(plot, "rect", { x: left, y: top, width: x.at(p[0] + dx + half) - left, height: Math.max(0, foot - top), fill: colour, "fill-opacity": 0.75 });
        }
      } else if (style === "line" || style === "steps" || style === "reference") {
        let path = "";
        series.points.forEach((p, k) => {
          const [a, b] = at(p), word = k === 0 ? `M${a.toFixed(1)} ` : style === "steps" ? `H${a.toFixed(1)}V` : `L${a.toFixed(1)} `;
          path += word + b.toFixed(1);
        });
        const line = style === "reference" ? { "stroke-width": 1, "stroke-dasharray": "6 4", "stroke-opacity": 0.55 } : { "stroke-width": 1.6 };
        make(plot, "path", { d: path, fill: "none", stroke: colour, "stroke-linejoin": "round", ...line });
      }
      if (style === "dots" || style === "paper" || (style === "line" && series.points.length < 60))
        for (const p of series.points) {
          const [a, b] = at(p), r = style === "dots" && series.points.length > 60 ? 1.8 : 4;
          if (style === "paper") make(plot, "path", { d: `M${a - 5} ${b - 5}l10 10m0 -10l-10 10`, stroke: colour, "stroke-width": 2 });
          else make(plot, "circle", { cx: a, cy: b, r, fill: colour });
        }
      series.errors.forEach((error, k) => {
        if (!(error > 0 && isFinite(error))) return;
        const [a] = at(series.points[k]), high = y.at(series.points[k][1] + error), foot = series.points[k][1] - error;
        const low = figure.y.logarithmic && foot <= 0 ? H - B : y.at(foot);
        make(plot, "path", { d: `M${a - 5} ${high}h10M${a} ${high}V${low}M${a - 5} ${low}h10`, stroke: "#333a42", fill: "none", "stroke-width": 1.3 });
      });
    }

    const place = event => {
      const frame = svg.getBoundingClientRect();
      return [(event.clientX - frame.left) * W / frame.width, (event.clientY - frame.top) * H / frame.height];
    };
    const inside = ([a, b]) => [Math.min(W - R, Math.max(L, a)), Math.min(H - B, Math.max(T, b))];

    // The nearest point that is shown, unless it is far away.
    function nearest(event) {
      const [a, b] = place(event);
      let best = null;
      for (const series of figure.series) if (series.shown) series.points.forEach((p, k) => {
        const px = x.at(p[0] + shift(series)), py = y.at(p[1]);
        if (px < L - 1 || px > W - R + 1 || py < T - 1 || py > H - B + 1) return;
        const far = series.style === "bars" ? Math.abs(px - a) * 1.001 + 2 : Math.hypot(px - a, (py - b) * 0.6);
        if (!best || far < best.far) best = { far, series, k, px, py };
      });
      return best && best.far <= 60 ? best : null;
    }

    function point(event) {
      const best = nearest(event);
      if (!best) { tip.style.display = "none"; return; }
      const { series, k } = best, p = series.points[k], error = series.errors[k];
      const unit = axis => axis.unit ? ` ${axis.unit}` : "";
      const from = names.length ? names[Math.round(p[0])] : digits(p[0]) + unit(figure.x);
      const spread = error > 0 && isFinite(error) ? ` ± ${digits(error)}` : "";
      tip.textContent = `${series.name}: ${digits(p[1])}${spread}${unit(figure.y)} at ${figure.x.label} ${from}`;
      const frame = svg.getBoundingClientRect(), left = best.px / W * frame.width;
      tip.style.display = "block";
      tip.style.top = `${Math.max(0, best.py / H * frame.height - 40)}px`;
      tip.style.left = `${Math.max(0, Math.min(frame.width - tip.offsetWidth, left - tip.offsetWidth / 2))}px`;
    }

    // The command that opens the run of the nearest point.
    function open(event) {
      const best = nearest(event), { texts, points, experiments } = figure.runs || {};
      run.replaceChildren();
      if (!best || !texts || best.series.style === "paper" || best.series.style === "reference") return;
      const of = points[figure.series.indexOf(best.series)], found = texts[of.length === 1 ? of[0] : of[best.k]];
      if (!found) {
        html(run, "p", "small", `This value is computed from several points of ${experiments.join(", ") || "the study"}.`);
        return;
      }
      html(run, "p", "small", `${best.series.name} at ${figure.x.label} ${names.length ? names[Math.round(best.series.points[best.k][0])] : digits(best.series.points[best.k][0])}. ${found.text}. This opens one run as a page:`);
      html(html(run, "pre"), "code", "", found.command);
      const copy = html(run, "button", "", "Copy");
      copy.type = "button";
      copy.addEventListener("click", () => Promise.resolve().then(() => navigator.clipboard.writeText(found.command)).then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Mark the text to copy it"; }));
    }

    let begun = null, frame = null;
    svg.addEventListener("pointerdown", event => {
      if (event.button !== 0) return;
      begun = inside(place(event));
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", event => {
      if (!begun) return point(event);
      const [a, b] = inside(place(event));
      frame = frame || make(svg, "rect", { fill: "#2b6cb0", "fill-opacity": 0.12, stroke: "#2b6cb0" });
      const sides = { x: Math.min(a, begun[0]), y: Math.min(b, begun[1]), width: Math.abs(a - begun[0]), height: Math.abs(b - begun[1]) };
      for (const key in sides) frame.setAttribute(key, sides[key]);
    });
    const end = event => {
      const from = begun, to = inside(place(event));
      begun = null;
      if (frame) frame.remove();
      frame = null;
      if (from && Math.hypot(to[0] - from[0], to[1] - from[1]) < 8) return open(event);
      if (!from || Math.abs(to[0] - from[0]) < 8 || Math.abs(to[1] - from[1]) < 8) return;
      const sorted = (p, q) => p < q ? [p, q] : [q, p];
      view = { x: sorted(x.back(from[0]), x.back(to[0])), y: sorted(y.back(from[1]), y.back(to[1])) };
      reset.style.visibility = "visible";
      draw();
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", () => { begun = null; if (frame) frame.remove(); frame = null; });
    svg.addEventListener("pointerleave", () => { tip.style.display = "none"; });
    const back = () => { view = whole(); reset.style.visibility = "hidden"; draw(); };
    svg.addEventListener("dblclick", back);

    for (const series of figure.series) {
      const button = html(legend, "button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      html(button, "span", "swatch").style.background = series.colour;
      button.append(series.name);
      button.addEventListener("click", () => {
        series.shown = !series.shown;
        button.setAttribute("aria-pressed", String(series.shown));
        if (reset.style.visibility !== "visible") view = whole();
        draw();
      });
    }
    const reset = html(legend, "button", "reset", "show all");
    reset.type = "button";
    reset.addEventListener("click", back);
    draw();
  }
  document.querySelectorAll(".figure").forEach(show);
})();
