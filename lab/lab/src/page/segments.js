// The list of segments, and the timeline of the one that is chosen.
const PAGE = 100;

function makeSegments(run, seek, choose) {
  const { packets, segments, marks } = run;
  const element = id => document.getElementById(id);
  const [list, order, find, more, story, moments] = ["segments", "order", "find", "more", "story", "moments"].map(element);
  const all = Array.from(segments.asked, (_, k) => k);
  const delay = k => segments.ended[k] === NONE ? Infinity : segments.ended[k] - segments.asked[k];
  const several = new Set(segments.application).size > 1;
  let shown = PAGE, chosen = NONE, lines = [];

  const label = k => `${several ? `${run.applications[segments.application[k]][0]} ` : ""}${segments.number[k]}`;
  const took = k => segments.ended[k] === NONE ? "no answer" : segments.bytes[k] ? run.millis(delay(k)) : "given up";

  function rows() {
    const text = find.value.trim();
    const found = text ? all.filter(k => String(segments.number[k]) === text || (isNaN(text) && run.names[segments.name[k]].includes(text))) : all.slice();
    if (order.value === "slow") found.sort((a, b) => delay(b) - delay(a) || a - b);
    if (order.value === "lost") found.sort((a, b) => run.lostOf[segments.name[b]] - run.lostOf[segments.name[a]] || a - b);
    return found;
  }

  function fill() {
    const found = rows();
    element("count").textContent = `${found.length} of ${all.length}`;
    list.replaceChildren(...found.slice(0, shown).map(k => {
      const item = document.createElement("li"), button = item.appendChild(document.createElement("button"));
      const lost = run.lostOf[segments.name[k]];
      const part = (of, text) => Object.assign(button.appendChild(document.createElement("span")), { className: of, textContent: text });
      part("of", label(k)); part("lost", lost ? `${lost} lost` : ""); part("took", took(k));
      button.setAttribute("aria-pressed", segments.name[k] === chosen);
      button.title = run.names[segments.name[k]];
      button.dataset.name = segments.name[k];
      button.addEventListener("pointerenter", () => choose(segments.name[k]));
      button.addEventListener("pointerleave", () => choose(chosen));
      button.addEventListener("click", () => { select(segments.name[k]); seek(segments.asked[k]); });
      return item;
    }));
    more.hidden = found.length <= shown;
  }
  for (const [input, event] of [[order, "change"], [find, "input"]]) input.addEventListener(event, () => { shown = PAGE; fill(); });
  more.addEventListener("click", () => { shown += PAGE; fill(); });

  // Lines of a timeline: time, rank at equal times, place, text, and whether something went wrong.
  function timeline(name) {
    const found = [], app = id => run.applications[id][0];
    for (const k of run.segmentsOf(name)) {
      found.push([segments.asked[k], 0, app(segments.application[k]), `sends an Interest; RTO ${segments.rto[k].toFixed(1)} ms`]);
      if (segments.bytes[k]) found.push([segments.ended[k], 5, app(segments.application[k]), `receives it, after ${run.millis(delay(k))}`]);
    }
    for (const k of run.ofName(name)) {
      const { from, to, link } = run.channels[packets.channel[k]], kind = KINDS[packets.kind[k]], target = from === to ? "all in range" : run.node(to);
      const wait = packets.sent[k] - packets.since[k], flight = packets.left[k] - packets.sent[k];
      if (wait > 0 && !(packets.lost[k] && flight === 0)) found.push([packets.sent[k], 3, run.node(from), `${kind} is sent to ${target} after ${run.millis(wait)} here`]);
      if (packets.lost[k]) found.push([packets.left[k], 4, run.node(from), `${kind} to ${target} is lost on ${link.name}: ${run.reasons[packets.lost[k] - 1]}`, run.isLost(k)]);
      else if (packets.left[k] !== NONE) found.push([packets.left[k], 1, from === to ? "in range" : run.node(to), `${kind} arrives from ${run.node(from)}, ${run.millis(flight)} in flight`]);
    }
    for (const k of run.marksOf(name)) {
      const place = marks.scene[k] === 0 ? run.node(marks.place[k]) : marks.scene[k] === 1 ? app(marks.place[k]) : run.links[marks.place[k]].name;
      found.push([marks.at[k], marks.scene[k] === 1 ? 1.5 : 2, place, run.texts[marks.text[k]], marks.meaning[k] === DROP || marks.meaning[k] === MISSED]);
    }
    return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  }

  function select(name, focus) {
    chosen = name;
    choose(name);
    for (const button of list.querySelectorAll("button")) button.setAttribute("aria-pressed", Number(button.dataset.name) === name);
    story.hidden = name === NONE;
    if (name === NONE) return;
    lines = timeline(name);
    const own = run.segmentsOf(name), first = lines.length ? lines[0][0] : 0;
    element("story-title").textContent = own.length ? `Segment ${label(own[0])}: ${took(own[0])}` : "Packets of one name";
    element("story-name").textContent = run.names[name];
    moments.replaceChildren(...lines.map(([at, , place, text, bad]) => {
      const item = document.createElement("li"), button = item.appendChild(document.createElement("button"));
      const part = (of, words) => Object.assign(button.appendChild(document.createElement("span")), { className: of, textContent: words });
      part("at", run.millis(at - first)); part(bad ? "bad" : "", `${place}: ${text}`);
      button.addEventListener("click", () => seek(at));
      return item;
    }));
    if (focus) element("story-title").focus();
  }
  element("close").addEventListener("click", () => select(NONE));

  // Marks the last line of the timeline that is not in the future.
  let current = null;
  function follow(time) {
    if (chosen === NONE) return;
    const past = lines.findLastIndex(line => line[0] <= time), next = moments.children[past]?.firstChild || null;
    if (next === current) return;
    current?.removeAttribute("aria-current");
    next?.setAttribute("aria-current", "step");
    current = next;
    if (next && moments.scrollHeight > moments.clientHeight) moments.scrollTop = next.offsetTop - moments.offsetTop - moments.clientHeight / 2;
  }
  fill();
  return { select, follow };
}
