// SPDX-License-Identifier: Apache-2.0
// The page of a response: amplitudes and phases over frequency, as many curves as are ticked.
import { readResponse } from './data.js';

const $ = (id) => document.getElementById(id);
const number = (x) => (x === 0 ? '0' : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? x.toPrecision(4) : x.toExponential(3));
const COLOURS = ['#1971c2', '#e03131', '#2f9e44', '#e8590c', '#7048e8', '#0c8599', '#a61e4d', '#5c940d'];
const DASHES = [[], [6, 3], [2, 3]];
const PAD = { left: 76, right: 16, top: 14, bottom: 40, gap: 22 };

// Where whole decades, or round steps, lie between low and high.
function ticks(low, high, log) {
  const found = [];
  if (log) {
    const every = Math.max(1, Math.ceil((Math.log10(high) - Math.log10(low)) / 10));
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e += every) found.push(10 ** e);
    if (found.length >= 2) return found;
    found.length = 0;
  }
  const rough = (high - low) / 6 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((f) => f * unit >= rough) * unit;
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  return found;
}

// An axis from values to pixels.
function axis(low, high, from, to, log) {
  const f = log ? Math.log10 : (x) => x;
  const a = f(low);
  const span = f(high) - a || 1;
  return { low, high, log, at: (x) => from + ((f(x) - a) / span) * (to - from),
    value: (p) => { const t = a + ((p - from) / (to - from)) * span; return log ? 10 ** t : t; } };
}

async function start() {
  const header = JSON.parse($('header').textContent);
  const response = await readResponse(header, $('data').textContent);
  const { frequencies, curves } = response;
  const n = frequencies.length;
  const ui = { hover: -1 };
  const canvas = $('view');
  document.title = header.title;
  $('title').textContent = header.title;
  $('about').textContent = `${n.toLocaleString('en')} frequencies, ${curves.length} curve${curves.length > 1 ? 's' : ''}`;
  const firstPositive = frequencies.findIndex((f) => f > 0);
  if (firstPositive < 0 || n - firstPositive < 2) {
    $('log-x').checked = false;
    $('log-x').disabled = true;
  }

  curves.forEach((curve, i) => {
    curve.colour = COLOURS[(curve.probe ?? i) % COLOURS.length];
    curve.dash = curve.probe === undefined ? [] : DASHES[curve.axis];
    curve.name = curve.probe === undefined ? `object ${curve.object}, q${curve.mode}` : `probe ${curve.probe}, ${'xyz'[curve.axis]}`;
    curve.unit = curve.probe === undefined ? 'kg½ m' : 'm';
    curve.peak = curve.amplitudes.reduce((most, a) => Math.max(most, a), 0);
    const row = document.createElement('label');
    row.className = 'check';
    const box = Object.assign(document.createElement('input'), { type: 'checkbox', id: `curve-${i}`, checked: curve.peak > 0 && i < 24 });
    box.addEventListener('change', () => draw());
    const text = document.createElement('span');
    text.textContent = curve.name;
    text.style.color = curve.colour;
    row.append(box, text);
    $('curves').append(row);
    curve.box = box;
  });
  const shown = () => curves.filter((c) => c.box.checked);

  // A curve as the least and the most of each column of pixels, where there are more points than those.
  function path(g, x, y, values, first, jump = Infinity) {
    g.beginPath();
    let column = NaN;
    let low = 0;
    let high = 0;
    let open = false;
    const flush = () => {
      if (Number.isNaN(column)) return;
      if (open) g.lineTo(column, low); else g.moveTo(column, low);
      if (high !== low) g.lineTo(column, high);
      open = true;
    };
    const lift = () => { flush(); column = NaN; open = false; };
    for (let i = first; i < n; i++) {
      if (y.log && !(values[i] > 0)) { lift(); continue; } // no logarithm: a gap
      if (i > first && Math.abs(values[i] - values[i - 1]) > jump) lift(); // from -180 to 180 degrees
      const px = n > 4000 ? Math.round(x.at(frequencies[i])) : x.at(frequencies[i]);
      const py = y.at(Math.max(values[i], y.low));
      if (px === column) {
        low = Math.min(low, py);
        high = Math.max(high, py);
      } else {
        flush();
        column = px;
        low = high = py;
      }
    }
    flush();
    g.stroke();
  }

  function layout() {
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    const logX = $('log-x').checked;
    const first = logX ? firstPositive : 0;
    const bottom = height - PAD.bottom;
    const middle = $('phase').checked ? PAD.top + 0.66 * (bottom - PAD.top) : bottom;
    let high = 0;
    let low = Infinity;
    for (const c of shown()) {
      for (let i = first; i < n; i++) {
        if (c.amplitudes[i] > high) high = c.amplitudes[i];
        if (c.amplitudes[i] > 0 && c.amplitudes[i] < low) low = c.amplitudes[i];
      }
    }
    const logY = $('log-y').checked && high > 0;
    if (!(high > 0)) { high = 1; low = 0; }
    const x = axis(frequencies[first], frequencies[n - 1], PAD.left, width - PAD.right, logX);
    const y = logY ? axis(Math.max(low, high * 1e-12) / 1.3, high * 1.3, middle, PAD.top, true) : axis(0, high * 1.05, middle, PAD.top, false);
    const phase = $('phase').checked ? axis(-180, 180, bottom, middle + PAD.gap, false) : null;
    return { width, height, first, bottom, middle, x, y, phase };
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    const at = layout();
    ui.layout = at;
    canvas.width = at.width * ratio;
    canvas.height = at.height * ratio;
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    const ink = getComputedStyle(document.body).color;
    g.font = '12px system-ui, sans-serif';
    const grid = (from, to) => { g.beginPath(); g.moveTo(...from); g.lineTo(...to); g.globalAlpha = 0.18; g.strokeStyle = ink; g.stroke(); g.globalAlpha = 1; };
    g.fillStyle = ink;
    g.textAlign = 'center';
    g.textBaseline = 'top';
    for (const f of ticks(at.x.low, at.x.high, at.x.log)) {
      grid([at.x.at(f), PAD.top], [at.x.at(f), at.bottom]);
      g.fillText(String(Number(f.toPrecision(6))), at.x.at(f), at.bottom + 5);
    }
    g.fillText('frequency in Hz', (PAD.left + at.width - PAD.right) / 2, at.bottom + 22);
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    for (const a of ticks(at.y.low, at.y.high, at.y.log)) {
      grid([PAD.left, at.y.at(a)], [at.width - PAD.right, at.y.at(a)]);
      g.fillText(a === 0 ? '0' : a.toExponential(0), PAD.left - 6, at.y.at(a));
    }
    for (const p of at.phase ? [-180, -90, 0, 90, 180] : []) {
      grid([PAD.left, at.phase.at(p)], [at.width - PAD.right, at.phase.at(p)]);
      g.fillText(`${p}°`, PAD.left - 6, at.phase.at(p));
    }
    const side = (text, y) => { g.save(); g.translate(14, y); g.rotate(-Math.PI / 2); g.textAlign = 'center'; g.fillText(text, 0, 0); g.restore(); };
    side(`amplitude in ${curves[0].unit}`, (PAD.top + at.middle) / 2);
    if (at.phase) side('phase', (at.middle + PAD.gap + at.bottom) / 2);
    g.lineWidth = 1.5;
    for (const c of shown()) {
      g.strokeStyle = c.colour;
      g.setLineDash(c.dash);
      path(g, at.x, at.y, c.amplitudes, at.first);
      if (at.phase) path(g, at.x, at.phase, c.phases, at.first, 180);
    }
    g.setLineDash([]);
    hover(g, at, ink);
  }

  function hover(g, at, ink) {
    const i = ui.hover;
    $('probe').hidden = i < 0;
    if (i < 0) return;
    const x = at.x.at(frequencies[i]);
    g.strokeStyle = ink;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, PAD.top);
    g.lineTo(x, at.bottom);
    g.stroke();
    for (const c of shown()) {
      if (at.y.log && !(c.amplitudes[i] > 0)) continue;
      g.fillStyle = c.colour;
      g.beginPath();
      g.arc(x, at.y.at(Math.max(c.amplitudes[i], at.y.low)), 3.5, 0, 2 * Math.PI);
      g.fill();
    }
    const row = (text, colour) => Object.assign(document.createElement('div'), { textContent: text, style: `color:${colour}` });
    $('probe').style.left = x > at.width / 2 ? '5.5rem' : 'auto';
    $('probe').style.right = x > at.width / 2 ? 'auto' : '.8rem';
    $('probe').style.width = 'auto';
    $('probe-value').replaceChildren(row(`${number(frequencies[i])} Hz`, 'inherit'),
      ...shown().slice(0, 24).map((c) => row(`${c.name}: ${number(c.amplitudes[i])} ${c.unit}, ${c.phases[i].toFixed(1)}°`, c.colour)));
  }
  // The row that is nearest in pixels.
  canvas.addEventListener('pointermove', (e) => {
    const f = ui.layout.x.value(e.clientX - canvas.getBoundingClientRect().x);
    let low = ui.layout.first;
    let high = n - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (frequencies[middle] <= f) low = middle;
      else high = middle;
    }
    const px = e.clientX - canvas.getBoundingClientRect().x;
    const away = (i) => Math.abs(ui.layout.x.at(frequencies[i]) - px);
    ui.hover = away(high) < away(low) ? high : low;
    draw();
  });
  canvas.addEventListener('pointerleave', () => { ui.hover = -1; draw(); });
  for (const id of ['log-x', 'log-y', 'phase']) $(id).addEventListener('change', draw);
  const setDark = () => { document.body.classList.toggle('dark', $('dark').checked); draw(); };
  $('dark').addEventListener('change', setDark);
  const tick = (on) => { for (const c of curves) c.box.checked = on; draw(); };
  $('all').addEventListener('click', () => tick(true));
  $('none').addEventListener('click', () => tick(false));
  $('panel-toggle').addEventListener('click', () => document.body.classList.toggle('panel'));
  new ResizeObserver(draw).observe(canvas.parentElement);
  document.body.classList.add('response');
  $('dark').checked = window.matchMedia('(prefers-color-scheme: dark)').matches;
  setDark();
  window.modalview = { response, curves, ui, draw };
  document.body.classList.add('ready');
}

start().catch((error) => {
  $('problem').hidden = false;
  $('problem').textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
