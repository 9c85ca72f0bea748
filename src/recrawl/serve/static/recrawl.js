// Live numbers and charts. Everything else is plain HTML, and works without this.
"use strict";
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const shown = (_, value) => value == null ? "" : value.toLocaleString("en");
const clock = (second) => uPlot.tzDate(new Date(second * 1e3), "Etc/UTC");
const written = (second, form) => uPlot.fmtDate(form)(clock(second));
const dated = (_, second) => second == null ? "" : written(second, "{YYYY}-{MM}-{DD} {HH}:{mm}");
const tick = (step) => step >= 86400 ? "{YYYY}-{MM}-{DD}" : step >= 60 ? "{MM}-{DD} {HH}:{mm}" : "{HH}:{mm}:{ss}";
const DATES = { space: 76, values: (_, splits, __, ___, step) => splits.map((one) => written(one, tick(step))) };
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
const COLOURS = ["#2f7fc8", "#2f9e6e", "#e0762f", "#8a68c0", "#c94f62"];

// <figure class="chart" data-chart="URL">: {"x": [...], "time": true, "label", "series": [{"name", "values", "hidden"}]}
// Times come as the clocks of the crawl's machine show them, so they are drawn as they are, in no zone of the browser's.
async function draw(figure) {
  const answer = await fetch(figure.dataset.chart, { credentials: "same-origin" });
  if (!answer.ok) return;
  const data = await answer.json();
  const box = figure.querySelector(".plot");
  if (data.x.length < 2) { box.textContent = "Too little to draw yet."; return; }
  const size = () => ({ width: Math.max(260, figure.clientWidth - 28), height: 220 });
  const axis = { stroke: ink("--soft"), grid: { stroke: ink("--grid"), width: 1 }, ticks: { stroke: ink("--grid") }, size: 62 };
  const plot = new uPlot({
    ...size(), tzDate: clock, legend: { live: true }, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: data.time }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.05 : 1] } },
    axes: [{ ...axis, size: 40, ...(data.time ? DATES : data.x.every(Number.isInteger) ? { incrs: WHOLE } : {}) }, axis],
    series: [{ label: data.label, value: data.time ? dated : shown }].concat(data.series.map((one, i) => ({
      label: one.name, show: !one.hidden, value: shown, stroke: COLOURS[i % COLOURS.length], width: 2, points: { show: data.x.length < 40 } }))),
  }, [data.x].concat(data.series.map((one) => one.values)), box);
  new ResizeObserver(() => plot.setSize(size())).observe(figure);
}
document.querySelectorAll("figure[data-chart]").forEach((figure) => draw(figure));

// <b data-live="visits">: filled from the stream of numbers
if (document.querySelector("[data-live]") && window.EventSource) {
  const stream = new EventSource("/events");
  stream.addEventListener("numbers", (event) => {
    const numbers = JSON.parse(event.data);
    document.querySelectorAll("[data-live]").forEach((place) => {
      const value = numbers[place.dataset.live];
      if (value === undefined) return;
      if (place.tagName === "PROGRESS") place.value = value; else if (place.textContent !== String(value)) place.textContent = value;
    });
  });
  window.addEventListener("pagehide", () => stream.close());
}
// a job that is not done yet is looked at again
const waiting = document.querySelector("[data-again]");
if (waiting) setTimeout(() => location.reload(), Number(waiting.dataset.again));
