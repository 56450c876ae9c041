// The timeline viewer: warps as rows, cycles from left to right, on a canvas.
"use strict";
(() => {
  const box = document.querySelector(".timeline");
  if (!box) return;
  const canvas = box.querySelector("canvas");
  const tip = box.querySelector(".tip");
  const range = box.querySelector(".range");
  const screen = canvas.getContext("2d");
  const sources = [...document.querySelectorAll("script.trace")];
  const PROPERTY = {
    issued: "issued", eligible: "eligible", fetch: "fetch", control: "control",
    data_memory: "memory", data_alu: "data", structural: "structural", barrier: "barrier",
    exit_stores: "exit", exit_siblings: "exit",
  };
  const TEXT = {
    issued: "issued", eligible: "ready, another was chosen", fetch: "waits for instructions",
    control: "waits for a branch", data_memory: "waits for memory", data_alu: "waits for a result",
    structural: "its unit is busy", barrier: "at a barrier",
    exit_stores: "finished, stores under way", exit_siblings: "finished, siblings still run",
  };
  const LEFT = 104, TOP = 22, GAP = 7;
  // What is painted on, and how wide it is.
  let context = screen, wide = 0;
  let data, colours, soft, faint, from, to, rowHeight, rows, bottom, frame = 0;

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  // The palette's first rule has its colours for light pages, which paper is.
  const onPaper = (name) => document.styleSheets[0].cssRules[0].style.getPropertyValue("--" + name).trim();
  const pick = (style) => {
    colours = data.states.map((s) => style(PROPERTY[s] || "c9"));
    [soft, faint] = [style("soft"), style("faint")];
  };

  // Segments are stored as lengths: their starts are needed to find the one under the pointer.
  function read(index) {
    const data = JSON.parse(sources[index].textContent);
    for (const track of data.tracks) {
      const n = track.segments.length / 2;
      track.starts = new Float64Array(n + 1);
      track.codes = new Uint8Array(n);
      let at = track.start;
      for (let i = 0; i < n; i++) {
        track.starts[i] = at;
        at += track.segments[2 * i];
        track.codes[i] = track.segments[2 * i + 1];
      }
      track.starts[n] = at;
    }
    // Warps of a block come together: blocks of the same number in several launches stay apart.
    data.tracks.sort((a, b) => a.start - b.start || a.block - b.block || a.warp - b.warp);
    return data;
  }

  function show(other) {
    data = other;
    [from, to] = data.cycles;
    if (to <= from) to = from + 1;
    layout();
  }

  function load(index) {
    show(read(index));
    canvas.style.height = bottom + "px";
    pick(style);
    box.querySelector(".legend").innerHTML = legend();
    draw();
  }

  function legend() {
    const used = new Set(data.tracks.flatMap((t) => [...new Set(t.codes)]));
    return data.states
      .map((s, i) => used.has(i) ? `<span><i style="background:var(--${PROPERTY[s] || "c9"})"></i>${s}</span>` : "")
      .join("");
  }

  // A row for each warp, blocks in the order in which they came.
  function layout() {
    rowHeight = data.tracks.length > 60 ? 7 : data.tracks.length > 30 ? 10 : 14;
    rows = [];
    let y = TOP, before = null;
    for (const track of data.tracks) {
      const first = !before || track.block !== before.block || track.start !== before.start;
      if (before && first) y += GAP;
      rows.push({ track, y, first });
      before = track;
      y += rowHeight;
    }
    bottom = y + 8;
  }

  const x = (cycle) => LEFT + (cycle - from) / (to - from) * (wide - LEFT);
  const cycleAt = (px) => from + (px - LEFT) / (canvas.clientWidth - LEFT) * (to - from);

  // The last segment that begins at or before a cycle.
  function find(track, cycle) {
    let low = 0, high = track.codes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (track.starts[middle + 1] <= cycle) low = middle + 1; else high = middle;
    }
    return low;
  }

  function draw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
  }

  function paint() {
    const scale = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    wide = width;
    const began = performance.now();
    ruler(width, height);
    for (const row of rows) paintRow(row, width);
    canvas.dataset.paint = (performance.now() - began).toFixed(1);
    canvas.dataset.segments = data.tracks.reduce((n, t) => n + t.codes.length, 0);
    range.textContent = rangeText();
  }

  function rangeText() {
    return `SM ${data.sm}, cycles ${Math.round(from).toLocaleString("en")} to ${Math.round(to).toLocaleString("en")}`
      + (data.left_out ? `; ${data.left_out.toLocaleString("en")} later events left out` : "");
  }

  // On paper every timeline is shown, the chosen one as far as it is zoomed, in pieces that fit on a page.
  const PAPER = { width: 1000, height: 900, scale: 2 };
  function sheets() {
    const shown = { data, from, to };
    const list = box.querySelector(".sheets"), titles = [...box.querySelector("select").options];
    list.replaceChildren();
    titles.forEach((title, index) => {
      if (title.selected) layout(); else show(read(index));
      if (title.selected) [from, to] = [shown.from, shown.to];
      pick(onPaper);
      const text = document.createElement("p");
      text.innerHTML = "<b></b> <span></span><span class=legend></span>";
      text.querySelector("b").textContent = title.text;
      text.querySelector("span").textContent = rangeText();
      text.querySelector(".legend").innerHTML = legend();
      list.append(text);
      for (let first = 0; first < rows.length;) {
        let after = first;
        while (after < rows.length && rows[after].y + rowHeight - rows[first].y <= PAPER.height) after++;
        list.append(sheet(rows.slice(first, after)));
        first = after;
      }
      data = shown.data;
    });
    [data, from, to, context] = [shown.data, shown.from, shown.to, screen];
    layout();
    pick(style);
    box.classList.add("prepared");
  }

  function sheet(part) {
    const paper = document.createElement("canvas");
    const up = part[0].y - TOP, height = part.at(-1).y + rowHeight + 8 - up;
    [paper.width, paper.height] = [PAPER.width * PAPER.scale, height * PAPER.scale];
    context = paper.getContext("2d");
    context.scale(PAPER.scale, PAPER.scale);
    wide = PAPER.width;
    ruler(wide, height);
    for (const row of part) paintRow({ ...row, y: row.y - up }, wide);
    return paper;
  }
  addEventListener("beforeprint", sheets);
  addEventListener("afterprint", () => {
    box.classList.remove("prepared");
    box.querySelector(".sheets").replaceChildren();
    draw();
  });

  function ruler(width, height) {
    const rough = (to - from) / Math.max(2, (width - LEFT) / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].find((s) => s * power >= rough) * power);
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    for (let c = Math.ceil(from / step) * step; c <= to; c += step) {
      context.fillStyle = faint;
      context.fillRect(Math.round(x(c)), TOP - 4, 1, height - TOP);
      context.fillStyle = soft;
      if (x(c) < width - 20) context.fillText(c.toLocaleString("en"), x(c), 12);
    }
  }

  // Segments narrower than a pixel share it: the state with the most cycles there is shown.
  function paintRow({ track, y, first }, width) {
    const h = rowHeight - 1;
    const perCycle = (width - LEFT) / (to - from);
    let i = find(track, from);
    let column = -1;
    const weight = new Float64Array(colours.length);
    const flush = () => {
      if (column < 0) return;
      let best = 0;
      for (let s = 1; s < weight.length; s++) if (weight[s] > weight[best]) best = s;
      context.fillStyle = colours[best];
      context.fillRect(column, y, 1, h);
      weight.fill(0);
      column = -1;
    };
    const { starts, codes } = track, n = codes.length;
    for (; i < n && starts[i] < to; i++) {
      const a = Math.max(starts[i], from), b = Math.min(starts[i + 1], to);
      if (b <= a) continue;
      const left = LEFT + (a - from) * perCycle, w = (b - a) * perCycle;
      if (w < 1) {
        const pixel = Math.floor(left);
        if (pixel !== column) { flush(); column = pixel; }
        weight[codes[i]] += b - a;
      } else {
        flush();
        context.fillStyle = colours[codes[i]];
        context.fillRect(left, y, Math.max(w - (perCycle > 4 ? 0.6 : 0), 1), h);
      }
    }
    flush();
    context.textAlign = "right";
    context.fillStyle = soft;
    if (first || rowHeight >= 10) {
      context.font = rowHeight >= 10 ? "10px system-ui, sans-serif" : "9px system-ui, sans-serif";
      const text = first ? `block ${track.block}  w${track.warp}` : `w${track.warp}`;
      context.fillText(text, LEFT - 6, y + h - (rowHeight >= 14 ? 3 : 0.5));
    }
  }

  function limit() {
    const [low, high] = data.cycles;
    const span = Math.min(Math.max(to - from, 8), Math.max(high - low, 8));
    if (from < low) from = low;
    if (from + span > high) from = Math.max(low, high - span);
    to = from + span;
  }

  function zoom(factor, at) {
    const centre = at === undefined ? (from + to) / 2 : at;
    const [low, high] = data.cycles;
    const span = Math.min(Math.max((to - from) * factor, 8), high - low);
    const share = (centre - from) / (to - from);
    from = centre - share * span;
    to = from + span;
    limit();
    draw();
  }

  function move(cycles) {
    from += cycles;
    to += cycles;
    limit();
    draw();
  }

  function about(px, py) {
    const row = rows.find((r) => py >= r.y && py < r.y + rowHeight);
    if (!row || px < LEFT) return null;
    const cycle = cycleAt(px), track = row.track, i = find(track, cycle);
    if (i >= track.codes.length || cycle < track.start) return null;
    const state = data.states[track.codes[i]];
    const begin = track.starts[i], end = track.starts[i + 1];
    let text = `warp ${track.warp} of block ${track.block}\n${state}: ${TEXT[state] || ""}\n`
      + `cycle ${begin.toLocaleString("en")}` + (end - begin > 1 ? ` to ${(end - 1).toLocaleString("en")}, ${(end - begin).toLocaleString("en")} cycles` : "");
    if (state === "issued") {
      let n = 0;
      for (let k = 0; k < i; k++) if (data.states[track.codes[k]] === "issued") n++;
      const code = data.code[track.issues[2 * n]];
      if (code) text += `\n${code}\n${track.issues[2 * n + 1]} lanes`;
    }
    return text;
  }

  let held = null;
  canvas.addEventListener("pointerdown", (e) => {
    held = { x: e.offsetX, from };
    canvas.setPointerCapture(e.pointerId);
    canvas.classList.add("held");
  });
  canvas.addEventListener("pointerup", () => { held = null; canvas.classList.remove("held"); });
  canvas.addEventListener("pointercancel", () => { held = null; canvas.classList.remove("held"); });
  canvas.addEventListener("pointermove", (e) => {
    if (held) {
      const cycles = (held.x - e.offsetX) / (canvas.clientWidth - LEFT) * (to - from);
      move(held.from + cycles - from);
      tip.hidden = true;
      return;
    }
    const text = about(e.offsetX, e.offsetY);
    tip.hidden = !text;
    if (text) {
      tip.textContent = text;
      const left = Math.min(canvas.offsetLeft + e.offsetX + 14, box.clientWidth - tip.offsetWidth - 8);
      tip.style.left = Math.max(8, left) + "px";
      tip.style.top = canvas.offsetTop + e.offsetY + 16 + "px";
    }
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("wheel", (e) => {
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      zoom(Math.exp(Math.sign(e.deltaY) * Math.min(Math.abs(e.deltaY), 60) / 200), cycleAt(e.offsetX));
    } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      move(e.deltaX / (canvas.clientWidth - LEFT) * (to - from));
    }
  }, { passive: false });
  canvas.addEventListener("dblclick", (e) => zoom(0.4, cycleAt(e.offsetX)));
  canvas.addEventListener("keydown", (e) => {
    const step = (to - from) / 8;
    const act = {
      ArrowLeft: () => move(-step), ArrowRight: () => move(step),
      "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "0": () => zoom(Infinity),
    }[e.key];
    if (act) { e.preventDefault(); act(); }
  });
  for (const button of box.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const all = data.cycles[1] - data.cycles[0];
      zoom({ in: 0.5, out: 2, all: all / (to - from) }[button.dataset.zoom]);
    });
  }
  box.querySelector("select").addEventListener("change", (e) => load(+e.target.value));
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { pick(style); draw(); });
  load(0);
})();
