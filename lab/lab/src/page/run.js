// The run: columns of numbers behind a document of names, and what is looked up in them. Times are ticks.
const NONE = 0xffffffff;
const KINDS = ["Interest", "Data", "Nack", "link fields"];
const DROP = 1, MISSED = 2, DOWN = 3, UP = 4, REDUNDANT = 5;

async function readRun() {
  const text = document.getElementById("data").textContent;
  const packed = Uint8Array.from(atob(text), char => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true), first = 4 + length;
  const run = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const types = { times: Uint32Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array, u8: Uint8Array };
  const kinds = run.curves, moving = run.motions;
  Object.assign(run, { packets: {}, segments: {}, marks: {}, curves: kinds.map(() => ({})), motions: moving.map(() => ({})) });
  for (const [name, type, from, count] of run.columns) {
    const values = new types[type](buffer, first + from, count);
    if (type === "times") for (let k = 1; k < count; k++) values[k] += values[k - 1];
    const path = name.split("."), last = path.pop();
    path.reduce((at, key) => at[key], run)[last] = values;
  }
  run.curves = run.curves.map((curve, k) => ({ measure: kinds[k][0], of: kinds[k][1], at: curve.at, value: curve.value }));
  run.motions = new Map(run.motions.map((motion, k) => [moving[k], motion]));
  return index(run);
}

// The number of values that are at most `value`, in an ascending column.
function upTo(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1; else high = middle;
  }
  return low;
}

// Places of rows by the number in a column: `of(number)` is a part of one array.
function grouped(column, groups) {
  const starts = new Uint32Array(groups + 1), rows = new Uint32Array(column.length);
  for (const group of column) if (group < groups) starts[group + 1]++;
  for (let k = 0; k < groups; k++) starts[k + 1] += starts[k];
  const next = starts.slice();
  column.forEach((group, row) => { if (group < groups) rows[next[group]++] = row; });
  return group => group < groups ? rows.subarray(starts[group], starts[group + 1]) : rows.subarray(0, 0);
}

const BLOCK = 256;

function index(run) {
  const { packets, segments, marks } = run, count = packets.sent.length;
  const end = k => packets.left[k] === NONE ? run.end : packets.left[k];
  // The latest end in each block of packets: blocks that ended before a time are skipped.
  const latest = new Float64Array(Math.ceil(count / BLOCK));
  for (let k = 0; k < count; k++) latest[k / BLOCK | 0] = Math.max(latest[k / BLOCK | 0], end(k));
  run.inFlight = (time, visit) => {
    const last = upTo(packets.sent, time);
    for (let block = 0; block * BLOCK < last; block++) {
      if (latest[block] < time) continue;
      for (let k = block * BLOCK, stop = Math.min(last, k + BLOCK); k < stop; k++) if (end(k) >= time && end(k) > packets.sent[k]) visit(k);
    }
  };
  run.ofName = grouped(packets.name, run.names.length);
  run.marksOf = grouped(marks.name, run.names.length);
  run.segmentsOf = grouped(segments.name, run.names.length);

  run.lostOf = new Uint16Array(run.names.length);
  const superfluous = run.reasons.indexOf("superfluous") + 1, losses = [];
  run.isLost = k => packets.lost[k] !== 0 && packets.lost[k] !== superfluous;
  for (let k = 0; k < count; k++) {
    if (!run.isLost(k)) continue;
    losses.push({ at: packets.left[k], packet: k });
    if (packets.name[k] !== NONE) run.lostOf[packets.name[k]]++;
  }
  marks.at.forEach((at, k) => {
    if (marks.meaning[k] !== DROP) return;
    losses.push({ at, mark: k });
    if (marks.name[k] !== NONE) run.lostOf[marks.name[k]]++;
  });
  losses.sort((a, b) => a.at - b.at);
  run.losses = losses;
  run.lossTimes = Float64Array.from(losses, loss => loss.at);
  run.ends = Uint32Array.from(packets.left.filter(at => at !== NONE)).sort();

  run.channels = run.links.flatMap(link => [0, 1].map(way => ({ link, from: link.ends[way], to: link.ends[1 - way], ...link.channels[way], lost: [] })));
  for (const loss of losses) if (loss.packet !== undefined) run.channels[packets.channel[loss.packet]].lost.push(loss.at);
  for (const curve of run.curves) if (curve.measure === "queue") {
    const channel = run.channels[curve.of];
    channel.curve = curve;
    channel.longest = curve.value.reduce((most, value) => Math.max(most, value), 0);
  }
  run.faults = [];
  marks.at.forEach((at, k) => { if (marks.meaning[k] === DOWN || marks.meaning[k] === UP) run.faults.push({ at, scene: marks.scene[k], place: marks.place[k], down: marks.meaning[k] === DOWN }); });
  run.text = ticks => {
    const whole = run.end * run.seconds;
    return `${(ticks * run.seconds).toFixed(whole < 20 ? 6 : whole < 2000 ? 4 : 2)} s`;
  };
  run.millis = ticks => {
    const ms = ticks * run.seconds * 1e3;
    return `${ms < 10 ? ms.toFixed(3) : ms < 100 ? ms.toFixed(2) : ms.toFixed(1)} ms`;
  };
  run.node = k => run.nodes[k][0];
  return run;
}

// The value of a stepped curve at a time; 0 before its first point.
function valueAt(curve, time) {
  const k = upTo(curve.at, time);
  return k ? curve.value[k - 1] : 0;
}
