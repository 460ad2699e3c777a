// SPDX-License-Identifier: Apache-2.0
// The displacement of one vertex over time: x, y, z and the magnitude, with a line at the frame shown.
const COLOURS = ['#e03131', '#2f9e44', '#1971c2'];

// values: [frames, 3], m.
export function drawPlot(canvas, times, values, frame) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const g = canvas.getContext('2d');
  g.scale(ratio, ratio);
  const text = getComputedStyle(canvas).color;
  const n = times.length;
  let most = 0;
  for (let f = 0; f < n; f++) most = Math.max(most, Math.hypot(values[3 * f], values[3 * f + 1], values[3 * f + 2]));
  if (most === 0) most = 1;
  const span = times[n - 1] - times[0] || 1;
  const x = (f) => 4 + ((times[f] - times[0]) / span) * (width - 8);
  const y = (u) => height / 2 - (u / most) * (height / 2 - 14);
  g.strokeStyle = text;
  g.globalAlpha = 0.3;
  g.beginPath();
  g.moveTo(4, y(0));
  g.lineTo(width - 4, y(0));
  g.stroke();
  g.globalAlpha = 1;
  const step = Math.max(1, Math.floor(n / (4 * width)));
  const curve = (value) => {
    g.beginPath();
    for (let f = 0; f < n; f += step) g.lineTo(x(f), y(value(f)));
    g.stroke();
  };
  for (let k = 0; k < 3; k++) {
    g.strokeStyle = COLOURS[k];
    curve((f) => values[3 * f + k]);
  }
  g.strokeStyle = text;
  g.setLineDash([3, 3]);
  curve((f) => Math.hypot(values[3 * f], values[3 * f + 1], values[3 * f + 2]));
  g.setLineDash([]);
  g.beginPath();
  g.moveTo(x(frame), 0);
  g.lineTo(x(frame), height);
  g.stroke();
  g.fillStyle = text;
  g.font = '10px sans-serif';
  g.fillText(`${most.toPrecision(3)} m`, 6, 10);
  g.textAlign = 'right';
  g.fillText(`${span.toPrecision(3)} s`, width - 6, height - 3);
  ['x', 'y', 'z'].forEach((name, k) => {
    g.fillStyle = COLOURS[k];
    g.fillText(name, width - 40 + 12 * k, 10);
  });
}
