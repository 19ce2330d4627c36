(() => {
  const holder = document.getElementById("timeline"), source = document.getElementById("timeline-data");
  if (!holder || !source) return;
  const data = JSON.parse(source.textContent), canvas = holder.querySelector("canvas"), tip = document.getElementById("timeline-tip");
  const context = canvas.getContext("2d"), search = document.getElementById("timeline-search"), shown = document.getElementById("timeline-shown");
  const ROW = 30, LABELS = 110, AXIS = 22, LEAST = 16, colours = ["--teal", "--indigo", "--amber", "--rose", "--moss", "--muted"];
  const words = [...new Set(data.labels.map((label) => label.split(/[ ,]/)[0]))];
  const kind = data.labels.map((label) => words.indexOf(label.split(/[ ,]/)[0]));
  let from = 0, to = data.cycles, found = null, frame = 0;

  // Each row is [start, length, label, start, length, label, …], by start.
  const first = (row, cycle) => {
    let low = 0, high = row.length / 3;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row[3 * middle] + row[3 * middle + 1] < cycle) low = middle + 1; else high = middle;
    }
    return 3 * low;
  };
  const short = (x) => Math.round(x).toLocaleString("en");
  const draw = () => {
    frame = 0;
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
    const width = holder.clientWidth, height = AXIS + ROW * data.units.length, ratio = devicePixelRatio || 1;
    canvas.width = width * ratio; canvas.height = height * ratio;
    canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const span = width - LABELS, scale = span / (to - from), paint = colours.map(colour);
    let step = 10 ** Math.floor(Math.log10((to - from) / 4));
    if ((to - from) / step > 12) step *= 5; else if ((to - from) / step > 6) step *= 2;
    context.fillStyle = colour("--muted"); context.strokeStyle = colour("--line"); context.lineWidth = 1;
    for (let cycle = Math.ceil(from / step) * step; cycle <= to; cycle += step) {
      const x = LABELS + (cycle - from) * scale;
      context.beginPath(); context.moveTo(x, AXIS); context.lineTo(x, height); context.stroke();
      context.textAlign = x > width - 40 ? "right" : "center";
      context.fillText(short(cycle), x, AXIS / 2);
    }
    context.textAlign = "left";
    data.units.forEach((unit, at) => {
      const y = AXIS + ROW * at + 4, row = data.rows[at];
      context.globalAlpha = 1;
      context.fillStyle = colour("--ink");
      context.fillText(unit, 2, y + ROW / 2 - 4, LABELS - 8);
      for (let i = first(row, from); i < row.length && row[i] < to; i += 3) {
        const start = Math.max(row[i], from), end = Math.min(row[i] + row[i + 1], to);
        const x = LABELS + (start - from) * scale, long = (end - start) * scale;
        context.globalAlpha = found && !found.has(row[i + 2]) ? 0.12 : 0.88;
        context.fillStyle = paint[kind[row[i + 2]] % paint.length];
        context.fillRect(x, y, long > 2 ? long - 0.5 : long, ROW - 8);
        if (long > 60) {
          context.globalAlpha = 1;
          context.fillStyle = colour("--panel");
          context.save(); context.beginPath(); context.rect(x, y, long - 4, ROW - 8); context.clip();
          context.fillText(data.labels[row[i + 2]], x + 5, y + ROW / 2 - 4);
          context.restore();
        }
      }
    });
    context.globalAlpha = 1;
    shown.textContent = `cycles ${short(from)} to ${short(to)} of ${short(data.cycles)}`;
  };
  const again = () => { if (!frame) frame = requestAnimationFrame(draw); };
  const set = (start, length) => {
    length = Math.min(Math.max(length, LEAST), Math.max(data.cycles, LEAST));
    from = Math.min(Math.max(start, 0), Math.max(data.cycles - length, 0));
    to = from + length;
    again();
  };
  const cycle = (x) => from + ((x - LABELS) / (holder.clientWidth - LABELS)) * (to - from);
  const zoom = (factor, at = (from + to) / 2) => set(at - (at - from) * factor, (to - from) * factor);
  const near = (event) => {
    const box = canvas.getBoundingClientRect(), at = Math.floor((event.clientY - box.top - AXIS) / ROW), x = event.clientX - box.left;
    const row = data.rows[at];
    if (!row || x < LABELS) { tip.hidden = true; return; }
    // What is thinner than a finger can still be pointed at.
    const now = cycle(x), reach = 2 * (to - from) / (holder.clientWidth - LABELS), i = first(row, now - reach);
    if (i >= row.length || row[i] > now + reach) { tip.hidden = true; return; }
    tip.textContent = `${data.units[at]}: ${data.labels[row[i + 2]]}, cycles ${short(row[i])} to ${short(row[i] + row[i + 1])} (${short(row[i + 1])})`;
    tip.hidden = false;
    const size = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(Math.max(8, event.clientX - size.width / 2), innerWidth - size.width - 8) + scrollX}px`;
    tip.style.top = `${event.clientY + 16 + scrollY}px`;
  };
  const fingers = new Map();
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) set(from + (event.deltaX + event.deltaY) / box.width * (to - from), to - from);
    else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 300), cycle(event.clientX - box.left));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, event.clientX); });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) { near(event); return; }
    const span = holder.clientWidth - LABELS;
    if (fingers.size === 1) set(from - (event.clientX - before) / span * (to - from), to - from);
    else {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1], box = canvas.getBoundingClientRect();
      const apart = Math.max(Math.abs(event.clientX - other), 8), was = Math.max(Math.abs(before - other), 8);
      zoom(was / apart, cycle((event.clientX + other) / 2 - box.left));
    }
    fingers.set(event.pointerId, event.clientX);
    near(event);
  });
  for (const event of ["pointerup", "pointercancel"]) canvas.addEventListener(event, (e) => fingers.delete(e.pointerId));
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("keydown", (event) => {
    const length = to - from, step = { ArrowLeft: -0.2, ArrowRight: 0.2 }[event.key];
    if (step) set(from + step * length, length);
    else if (event.key === "+" || event.key === "=") zoom(0.5);
    else if (event.key === "-") zoom(2);
    else if (event.key === "0") set(0, data.cycles);
    else return;
    event.preventDefault();
  });
  document.getElementById("timeline-in").addEventListener("click", () => zoom(0.5));
  document.getElementById("timeline-out").addEventListener("click", () => zoom(2));
  document.getElementById("timeline-all").addEventListener("click", () => set(0, data.cycles));
  search.addEventListener("input", () => {
    const text = search.value.trim().toLowerCase();
    found = text ? new Set(data.labels.flatMap((label, i) => (label.toLowerCase().includes(text) ? [i] : []))) : null;
    again();
  });
  document.getElementById("theme").addEventListener("click", again);
  addEventListener("resize", again);
  draw();
})();
