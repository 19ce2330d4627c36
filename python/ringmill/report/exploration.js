(() => {
  const data = document.getElementById("designs-data");
  if (!data) return;
  const designs = JSON.parse(data.textContent), tip = document.getElementById("design-tip");
  const rows = [...document.querySelectorAll("#designs tbody tr")];
  const points = [...document.querySelectorAll("[id^='design-']")].filter((p) => /-\d+$/.test(p.id));
  const number = (point) => Number(point.id.match(/\d+$/)[0]);
  const short = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e6 ? String(+x.toPrecision(3)) : x.toExponential(2));

  const show = (n, near) => {
    const d = designs[n];
    tip.replaceChildren();
    const line = (text, strong) => {
      const div = document.createElement("div");
      if (strong) div.style.fontWeight = "650";
      div.textContent = text;
      tip.append(div);
    };
    line(`Design ${n + 1}: ${short(d.latency)} ms, error ${short(d.error)}`, true);
    line(`${Math.round(d.security)} bits of security, ${d.area.toFixed(1)} % of the device`);
    line(`N = 2^${d.ring}, primes ${d.primes}, dnum ${d.dnum}`);
    line(d.core);
    line(d.resources);
    line(d.why);
    tip.hidden = false;
    const box = near.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - size.width / 2), innerWidth - size.width - 8);
    const above = box.top - size.height - 10;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above > 0 ? above : box.bottom + 10) + scrollY}px`;
    mark(n);
  };
  const mark = (n) => {
    points.forEach((p) => p.classList.toggle("hot", number(p) === n));
    rows.forEach((r) => r.classList.toggle("hot", Number(r.dataset.design) === n));
  };
  const hide = () => { tip.hidden = true; mark(-1); };
  points.forEach((p) => {
    p.setAttribute("tabindex", "0");
    p.setAttribute("role", "button");
    p.setAttribute("aria-label", `Design ${number(p) + 1}`);
    for (const event of ["pointerenter", "focus", "click"]) p.addEventListener(event, () => show(number(p), p));
    for (const event of ["pointerleave", "blur"]) p.addEventListener(event, hide);
  });
  rows.forEach((r) => {
    r.addEventListener("pointerenter", () => mark(Number(r.dataset.design)));
    r.addEventListener("pointerleave", () => mark(-1));
  });

  // Filters: a bound of each kind, and words that all must occur.
  const bounds = [...document.querySelectorAll("#filters input")];
  const filter = () => {
    let left = 0;
    rows.forEach((r) => {
      const d = designs[Number(r.dataset.design)];
      const kept = bounds.every((input) => {
        const text = input.value.trim();
        if (!text) return true;
        if (input.name === "words") return text.toLowerCase().split(/\s+/).every((w) => r.textContent.toLowerCase().includes(w));
        const bound = Number(text);
        return Number.isNaN(bound) || (input.name === "security" ? d.security >= bound : d[input.name] <= bound);
      });
      r.hidden = !kept;
      points.filter((p) => number(p) === d.number).forEach((p) => p.classList.toggle("out", !kept));
      left += kept;
    });
    document.getElementById("designs-left").textContent = `${left} of ${designs.length}`;
  };
  bounds.forEach((input) => input.addEventListener("input", filter));
  filter();

  // A click on a heading sorts by it, another one the other way.
  document.querySelectorAll("#designs th button").forEach((button) => {
    button.addEventListener("click", () => {
      const key = button.dataset.key, up = button.dataset.up !== "1";
      button.dataset.up = up ? "1" : "0";
      const of = (r) => designs[Number(r.dataset.design)][key];
      rows.sort((a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0) * (up ? 1 : -1));
      document.querySelector("#designs tbody").append(...rows);
    });
  });

  // Which picture is shown, and saving it.
  const pictures = [...document.querySelectorAll("#front .picture")], choice = document.getElementById("front-axes");
  const current = () => pictures.find((p) => !p.hidden).querySelector("svg");
  choice.addEventListener("change", () => pictures.forEach((p) => { p.hidden = p.dataset.axes !== choice.value; }));
  const drawing = () => {
    const svg = current(), copy = svg.cloneNode(true), names = new Set(svg.outerHTML.match(/--[a-z]+/g) || []);
    const style = getComputedStyle(document.documentElement), box = svg.viewBox.baseVal;
    let text = new XMLSerializer().serializeToString(copy);
    names.forEach((name) => { text = text.replaceAll(`var(${name})`, style.getPropertyValue(name).trim()); });
    text = text.replace("<svg", `<svg width="${box.width}" height="${box.height}" font-family="sans-serif" style="background:${style.getPropertyValue("--panel").trim()}"`);
    return [text, box];
  };
  const save = (address, name) => {
    const link = document.createElement("a");
    link.href = address; link.download = name; link.click();
  };
  document.getElementById("save-svg").addEventListener("click", () => {
    save(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing()[0])}`, "designs.svg");
  });
  document.getElementById("save-png").addEventListener("click", () => {
    const [text, box] = drawing(), image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * box.width; canvas.height = 2 * box.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      save(canvas.toDataURL("image/png"), "designs.png");
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  });
})();
