// The network: nodes, links, queues, and the packets that are on links at one time.
const SIDE = 4.5, MANY = 1500, MOST_LABELS = 400;

function makeNetwork(run, canvas, tip, colours, select) {
  const context = canvas.getContext("2d");
  const { packets, marks } = run;
  const large = run.nodes.length > 25, RADIUS = large ? 6 : 10;
  const roles = run.nodes.map(() => "router");
  for (const [, node, word] of run.applications) if (word === "producer" || (word === "consumer" && roles[node] !== "producer")) roles[node] = word;
  // Routers below, nodes that move above.
  const rank = node => (roles[node] !== "router") + 2 * run.motions.has(node);
  const byRole = run.nodes.map((_, node) => node).sort((a, b) => rank(a) - rank(b) || b - a);
  const atNode = run.nodes.map((_, node) => run.applications.filter(app => app[1] === node).map(app => `${app[0]} (${app[2]})`));
  // Links between the same nodes lie beside each other.
  const pairs = new Map();
  for (const link of run.links) {
    const key = [...link.ends].sort((a, b) => a - b).join();
    link.place = pairs.get(key) || 0;
    pairs.set(key, link.place + 1);
  }
  let shown = 0, counts = new Uint32Array(run.channels.length);
  let width = 0, height = 0, fit, places = [], drawn = [], chosen = NONE, down = { nodes: new Set(), links: new Set() };

  // Nodes in a row need little height.
  canvas.classList.toggle("row", !run.motions.size && run.nodes.every(node => node[2] === run.nodes[0][2]));

  function resize() {
    const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    width = box.width; height = box.height;
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const all = run.nodes.map(node => [node[1], node[2]]);
    for (const motion of run.motions.values()) motion.x.forEach((x, k) => all.push([x, motion.y[k]]));
    const side = part => all.reduce(([low, high], at) => [Math.min(low, at[part]), Math.max(high, at[part])], [Infinity, -Infinity]);
    const [left, right] = side(0), [bottom, top] = side(1);
    const margin = { x: Math.min(80, width * 0.14), y: 48 };
    let x = (width - 2 * margin.x) / (right - left || 1), y = (height - 2 * margin.y) / (top - bottom || 1);
    if (run.plane) x = y = Math.min(right > left ? x : y, top > bottom ? y : x);
    fit = at => [width / 2 + (at[0] - (left + right) / 2) * x, height / 2 - (at[1] - (bottom + top) / 2) * y];
  }

  function place(node, time) {
    const motion = run.motions.get(node);
    if (!motion) return fit([run.nodes[node][1], run.nodes[node][2]]);
    const k = Math.min(Math.max(1, upTo(motion.at, time)), motion.at.length - 1), from = Math.max(0, k - 1);
    const span = motion.at[k] - motion.at[from], part = span > 0 ? Math.min(1, Math.max(0, (time - motion.at[from]) / span)) : 0;
    const between = values => values[from] + part * (values[k] - values[from]);
    return fit([between(motion.x), between(motion.y)]);
  }

  // Where a channel begins and ends on the screen, and its unit vectors along and to the right.
  function lane(channel) {
    const [x0, y0] = places[channel.from], [x1, y1] = places[channel.to];
    const length = Math.hypot(x1 - x0, y1 - y0) || 1, u = (x1 - x0) / length, v = (y1 - y0) / length;
    const turn = channel.link.ends[0] === channel.from ? 1 : -1, aside = SIDE + turn * 16 * channel.link.place;
    const inset = Math.min(RADIUS + 3, length / 3);
    return { x: x0 + u * inset - v * aside, y: y0 + v * inset + u * aside, u, v, length: length - 2 * inset, whole: length };
  }

  function faults(time) {
    down = { nodes: new Set(), links: new Set() };
    for (const fault of run.faults) {
      if (fault.at > time) break;
      const set = fault.scene === 0 ? down.nodes : down.links;
      if (fault.down) set.add(fault.place); else set.delete(fault.place);
    }
  }

  function draw(time, speed) {
    places = run.nodes.map((_, node) => place(node, time));
    faults(time);
    context.clearRect(0, 0, width, height);
    const lanes = run.channels.map(lane), inside = [];
    shown = time;
    counts = new Uint32Array(run.channels.length);
    run.inFlight(time, k => { inside.push(k); counts[packets.channel[k]]++; });
    drawLinks(lanes, counts);
    drawQueues(lanes, time);
    drawPackets(lanes, inside, time);
    drawNodes(time);
    drawLosses(lanes, time, speed);
    drawNotes(time, speed);
    return counts;
  }

  function drawLinks(lanes, counts) {
    run.links.forEach((link, k) => {
      const [a, b] = link.ends;
      if (a === b) return;
      const active = counts[2 * k] + counts[2 * k + 1] > 0, isDown = down.links.has(k) || down.nodes.has(a) || down.nodes.has(b);
      const { u, v } = lanes[2 * k], aside = 16 * link.place;
      context.globalAlpha = link.aerial && !active ? 0.25 : 1;
      context.setLineDash(isDown ? [3, 5] : link.aerial ? [5, 4] : []);
      context.strokeStyle = isDown ? colours.loss : colours.link;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(places[a][0] - v * aside, places[a][1] + u * aside);
      context.lineTo(places[b][0] - v * aside, places[b][1] + u * aside);
      context.stroke();
    });
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  function drawQueues(lanes, time) {
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center"; context.textBaseline = "middle";
    run.channels.forEach((channel, k) => {
      if (!channel.longest || channel.from === channel.to) return;
      const { x, y, u, v, length } = lanes[k], size = Math.min(52, length * 0.4), aside = 10;
      const queued = valueAt(channel.curve, time), most = channel.queue || channel.longest, part = Math.min(1, queued / most);
      const bar = (from, to, style) => {
        context.strokeStyle = style; context.lineWidth = 7; context.beginPath();
        context.moveTo(x + u * from - v * aside, y + v * from + u * aside);
        context.lineTo(x + u * to - v * aside, y + v * to + u * aside);
        context.stroke();
      };
      if (size < 10 || (large && !queued)) return;
      bar(0, size, colours.line);
      // The queue leaves at the end towards the link.
      if (queued > 0) {
        bar(size - Math.max(3, size * part), size, part > 0.9 ? colours.loss : colours.queue);
        context.fillStyle = colours.soft;
        context.fillText(queued, x + u * size / 2 - v * (aside + 12), y + v * size / 2 + u * (aside + 12));
      }
    });
  }

  // Where a packet is on its lane.
  function locate(k, lanes, time) {
    const { x, y, u, v, length } = lanes[packets.channel[k]], left = packets.left[k] === NONE ? run.end : packets.left[k];
    const along = length * (time - packets.sent[k]) / Math.max(1, left - packets.sent[k]);
    spot.x = x + u * along; spot.y = y + v * along;
    return spot;
  }
  const spot = { x: 0, y: 0 };

  function drawPackets(lanes, inside, time) {
    const many = inside.length > MANY;
    drawn = [];
    // Of many packets those on one pixel are drawn once.
    const across = Math.ceil(width) + 1, taken = many ? new Uint8Array(across * (Math.ceil(height) + 1)) : null;
    const byKind = [[], [], [], []];
    for (const k of inside) {
      const { x, y } = locate(k, lanes, time), cell = (y | 0) * across + (x | 0), kind = packets.kind[k];
      if (many && taken[cell]) continue;
      if (many) taken[cell] = 1;
      byKind[kind].push({ k, x, y });
    }
    for (const kind of [3, 0, 1, 2]) {
      context.fillStyle = context.strokeStyle = [colours.interest, colours.data, colours.nack, colours.soft][kind];
      context.beginPath();
      for (const { k, x, y } of byKind[kind]) {
        const { from, to } = run.channels[packets.channel[k]], { u, v } = lanes[packets.channel[k]];
        if (from === to) ring(places[from], (time - packets.sent[k]) / Math.max(1, packets.left[k] - packets.sent[k]));
        else if (many) context.fillRect(x - 1.5, y - 1.5, 3, 3);
        else if (kind === 1) block(x, y, u, v, 5, 3);
        else if (kind === 2) block(x, y, (u - v) * Math.SQRT1_2, (u + v) * Math.SQRT1_2, 3.4, 3.4);
        else dot(x, y, kind === 0 ? 3.2 : 1.8);
      }
      context.fill();
      drawn.push(...byKind[kind]);
    }
    if (chosen === NONE) return;
    context.strokeStyle = colours.halo; context.lineWidth = 3;
    for (const k of inside) if (packets.name[k] === chosen) {
      const { x, y } = locate(k, lanes, time);
      context.beginPath(); context.arc(x, y, 9, 0, 7); context.stroke();
    }
  }

  const dot = (x, y, radius) => { context.moveTo(x + radius, y); context.arc(x, y, radius, 0, 7); };
  function block(x, y, u, v, along, across) {
    context.moveTo(x + u * along - v * across, y + v * along + u * across);
    context.lineTo(x + u * along + v * across, y + v * along - u * across);
    context.lineTo(x - u * along + v * across, y - v * along - u * across);
    context.lineTo(x - u * along - v * across, y - v * along + u * across);
    context.closePath();
  }
  // A broadcast frame spreads around its sender.
  function ring([x, y], part) {
    context.save();
    context.globalAlpha = 1 - part; context.lineWidth = 2;
    const circle = new Path2D();
    circle.arc(x, y, RADIUS + 50 * part, 0, 7);
    context.stroke(circle);
    context.restore();
  }

  // Nodes at which a packet of the chosen name waits.
  function waiting(time) {
    const nodes = new Set();
    if (chosen !== NONE) for (const k of run.ofName(chosen)) if (packets.since[k] <= time && time < packets.sent[k]) nodes.add(run.channels[packets.channel[k]].from);
    return nodes;
  }

  function drawNodes(time) {
    const held = waiting(time);
    for (const node of byRole) {
      const [x, y] = places[node];
      context.fillStyle = colours.node;
      context.strokeStyle = down.nodes.has(node) ? colours.loss : { consumer: colours.interest, producer: colours.data, router: colours.soft }[roles[node]];
      context.lineWidth = roles[node] === "router" ? 2 : 3.5;
      context.setLineDash(down.nodes.has(node) ? [3, 3] : []);
      context.beginPath(); context.arc(x, y, RADIUS, 0, 7); context.fill(); context.stroke();
      context.setLineDash([]);
      if (held.has(node)) {
        context.strokeStyle = colours.halo; context.lineWidth = 3;
        context.beginPath(); context.arc(x, y, RADIUS + 5, 0, 7); context.stroke();
      }
    }
    drawLabels();
  }

  // Names of nodes, below or above; those that would overlap others are left out.
  function drawLabels() {
    const taken = [];
    context.font = `${large ? 11 : 12}px system-ui, sans-serif`;
    context.textAlign = "center"; context.textBaseline = "top"; context.lineWidth = 4; context.lineJoin = "round";
    for (const node of byRole.slice(-MOST_LABELS).reverse()) {
      const [name] = run.nodes[node], label = name.length > 22 ? `${name.slice(0, 21)}…` : name;
      const [x, y] = places[node], half = context.measureText(label).width / 2 + 2, below = y + RADIUS + (large ? 4 : 12), above = y - RADIUS - 18;
      const top = [below, above].find(top => !taken.some(it => Math.abs(it.x - x) < it.half + half && Math.abs(it.top - top) < 13));
      if (top === undefined) continue;
      taken.push({ x, top, half });
      context.strokeStyle = colours.ground; context.strokeText(label, x, top);
      context.fillStyle = colours.ink; context.fillText(label, x, top);
    }
  }

  // A loss is shown for a second of the viewer's time.
  function drawLosses(lanes, time, speed) {
    const span = speed / run.seconds, first = upTo(run.lossTimes, time - span), last = upTo(run.lossTimes, time);
    context.textAlign = "left"; context.textBaseline = "middle"; context.font = "11px system-ui, sans-serif";
    const worded = new Set();
    for (let k = last - 1; k >= Math.max(first, last - 200); k--) {
      const { at, packet, mark } = run.losses[k], age = (time - at) / span;
      let x, y, reason;
      if (packet === undefined) {
        [x, y] = places[marks.place[mark]];
        y -= RADIUS + 6 + 10 * age;
        reason = run.texts[marks.text[mark]].split(": ").pop();
      } else {
        const { x: x0, y: y0, u, v, length, whole } = lanes[packets.channel[packet]];
        // Most models decide at once: such a packet is crossed out after a third of the way.
        const part = packets.left[packet] > packets.sent[packet] ? 1 : 1 / 3, fall = 4 + 10 * age;
        x = x0 + u * length * part - v * fall; y = y0 + v * length * part + u * fall;
        reason = run.reasons[packets.lost[packet] - 1];
        if (whole < 2) y -= RADIUS + 8;
      }
      context.globalAlpha = Math.max(0, 1 - age * age);
      context.strokeStyle = context.fillStyle = colours.loss; context.lineWidth = 2.5;
      context.beginPath();
      context.moveTo(x - 5, y - 5); context.lineTo(x + 5, y + 5); context.moveTo(x + 5, y - 5); context.lineTo(x - 5, y + 5);
      context.stroke();
      // The reason stands beside the newest loss of a place.
      const spot = packet === undefined ? `n${marks.place[mark]}` : packets.channel[packet];
      if (!worded.has(spot)) context.fillText(reason, x + 9, y);
      worded.add(spot);
    }
    context.globalAlpha = 1;
  }

  // News of nodes, for two seconds of the viewer's time; of one node the newest. Consumers of a large network have too many.
  function drawNotes(time, speed) {
    const span = 2 * speed / run.seconds, worded = new Set();
    context.font = "11px system-ui, sans-serif"; context.textAlign = "center"; context.textBaseline = "bottom"; context.lineWidth = 4;
    for (let k = upTo(marks.at, time) - 1, past = 0; k >= 0 && marks.at[k] > time - span && past < 500; k--, past++) {
      const isNews = marks.scene[k] === 0 ? marks.name[k] === NONE && marks.meaning[k] !== DROP && marks.meaning[k] !== REDUNDANT : marks.scene[k] === 1 && marks.meaning[k] === MISSED && !large;
      const node = marks.scene[k] === 0 ? marks.place[k] : marks.scene[k] === 1 ? run.applications[marks.place[k]][1] : -1;
      if (!isNews || worded.has(node)) continue;
      worded.add(node);
      const [x, y] = places[node], text = run.texts[marks.text[k]], half = context.measureText(text).width / 2 + 4;
      const at = Math.min(width - half, Math.max(half, x));
      context.globalAlpha = Math.max(0, 1 - ((time - marks.at[k]) / span) ** 2);
      context.strokeStyle = colours.ground; context.strokeText(text, at, y - RADIUS - 12);
      context.fillStyle = marks.meaning[k] === MISSED || marks.meaning[k] === DOWN ? colours.loss : colours.ink;
      context.fillText(text, at, y - RADIUS - 12);
    }
    context.globalAlpha = 1;
  }

  // What is under the pointer: a packet, a node or a link.
  function under(x, y) {
    let best, least = 14;
    for (const one of drawn) {
      const apart = Math.hypot(one.x - x, one.y - y);
      if (apart < least) least = apart, best = one;
    }
    if (best) return { packet: best.k };
    const node = places.findIndex(at => Math.hypot(at[0] - x, at[1] - y) < RADIUS + 4);
    if (node >= 0) return { node };
    for (let k = 0; k < run.channels.length; k++) {
      const { x: x0, y: y0, u, v, length } = lane(run.channels[k]);
      const along = (x - x0) * u + (y - y0) * v, across = Math.abs((y - y0) * u - (x - x0) * v);
      if (along >= 0 && along <= length && across < 10) return { channel: k };
    }
    return {};
  }

  function describe({ packet, node, channel }) {
    if (packet !== undefined) {
      const name = packets.name[packet], { from, to } = run.channels[packets.channel[packet]];
      return `${KINDS[packets.kind[packet]]} ${name === NONE ? "" : run.names[name]}\n${packets.bytes[packet]} bytes, ${run.node(from)} to ${run.node(to)}`;
    }
    if (node !== undefined) return [run.node(node), ...atNode[node]].join("\n");
    if (channel !== undefined) {
      const { link, from, to, text } = run.channels[channel];
      const { curve, lost } = run.channels[channel], queued = curve ? valueAt(curve, shown) : 0;
      return `${link.name}: ${run.node(from)} to ${run.node(to)}\n${text}\n${counts[channel]} on the link, ${queued} queued, ${upTo(lost, shown)} lost so far`;
    }
    return "";
  }

  const pointed = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointermove", event => {
    const [x, y] = pointed(event), found = under(x, y), text = describe(found);
    canvas.style.cursor = found.packet === undefined ? "default" : "pointer";
    tip.hidden = !text;
    tip.textContent = text;
    tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > height ? Math.max(2, y - tip.offsetHeight - 10) : y + 18}px`;
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", event => {
    const { packet } = under(...pointed(event));
    if (packet !== undefined && packets.name[packet] !== NONE) select(packets.name[packet]);
  });
  return { resize, draw, choose: name => { chosen = name; } };
}
