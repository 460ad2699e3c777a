// SPDX-License-Identifier: Apache-2.0
// A perceptual colour map: lightness and hue go evenly through the OKLab space, so that equal steps
// of a value look equal, also in grey and to colour-blind eyes. Source of the space: B. Ottosson, "A
// perceptual color space for image processing", 2020.

function oklabToRgb(L, a, b) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
}

const encode = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);

// The most colourful one of that lightness and hue that a screen can show, up to a chroma.
function rgbOf(lightness, hue, most) {
  for (let chroma = most; ; chroma -= 0.001) {
    const rgb = oklabToRgb(lightness, chroma * Math.cos(hue), chroma * Math.sin(hue));
    if (rgb.every((x) => x >= -1e-4 && x <= 1.0001)) return rgb.map((x) => encode(Math.min(1, Math.max(0, x))));
  }
}

// [256, 4] bytes, sRGB: from a blue over green to a light yellow.
export function colourMap() {
  const bytes = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    const t = i / 255;
    const hue = ((285 - 180 * t) * Math.PI) / 180;
    const rgb = rgbOf(0.4 + 0.5 * t, hue, 0.12);
    rgb.forEach((x, k) => (bytes[4 * i + k] = Math.round(255 * x)));
    bytes[4 * i + 3] = 255;
  }
  return bytes;
}

// [256, 4] bytes, sRGB: from a dark blue over near white, where zero is, to a dark red; the same lightness on both sides.
export function divergingMap() {
  const bytes = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    const t = Math.abs(2 * (i / 255) - 1);
    const rgb = rgbOf(0.95 - 0.5 * t, ((i < 128 ? 255 : 30) * Math.PI) / 180, 0.17 * t);
    rgb.forEach((x, k) => (bytes[4 * i + k] = Math.round(255 * x)));
    bytes[4 * i + 3] = 255;
  }
  return bytes;
}
