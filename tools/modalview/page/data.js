// SPDX-License-Identifier: Apache-2.0
// Reads what formats/viewer/viewer_data.c wrote; formats/viewer_data.md is the specification.

async function gunzip(text) {
  // The page has `unpack`, for the program itself.
  const stream = new Blob([window.unpack(text)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  // n items of `width` bytes, stored as planes.
  planes(n, width) {
    if (this.at + n * width > this.bytes.length) throw new Error('the data of this page are cut short');
    const items = new Uint8Array(n * width);
    for (let k = 0; k < width; k++) {
      const plane = this.bytes.subarray(this.at + k * n, this.at + (k + 1) * n);
      for (let i = 0; i < n; i++) items[i * width + k] = plane[i];
    }
    this.at += n * width;
    return items.buffer;
  }

  differences(n) {
    const coded = new Uint32Array(this.planes(n, 4));
    const items = new Int32Array(n);
    let last = 0;
    for (let i = 0; i < n; i++) items[i] = last = (last + ((coded[i] >>> 1) ^ -(coded[i] & 1))) | 0;
    return items;
  }
}

// The triangles at each vertex, ascending: CSR.
function facesOfVertices(n, triangles) {
  const offsets = new Int32Array(n + 1);
  for (const v of triangles) offsets[v + 1]++;
  for (let v = 0; v < n; v++) offsets[v + 1] += offsets[v];
  const next = offsets.slice();
  const faces = new Int32Array(triangles.length);
  for (let i = 0; i < triangles.length; i++) faces[next[triangles[i]]++] = Math.floor(i / 3);
  return { offsets, faces };
}

// The two vertices of a triangle after v, in its order.
function others(triangles, face, v, pair) {
  const t = 3 * face;
  const k = triangles[t] === v ? 0 : triangles[t + 1] === v ? 1 : 2;
  pair[0] = triangles[t + ((k + 1) % 3)];
  pair[1] = triangles[t + ((k + 2) % 3)];
}

function makePredictor(n, triangles, { offsets, faces }) {
  const starts = new Int32Array(n + 1);
  const terms = [];
  const p = [0, 0];
  const q = [0, 0];
  for (let v = 0; v < n; v++) {
    for (let i = offsets[v]; i < offsets[v + 1]; i++) {
      others(triangles, faces[i], v, p);
      const [a, b] = p;
      if (a >= v || b >= v) continue;
      for (let j = offsets[a]; j < offsets[a + 1]; j++) {
        others(triangles, faces[j], a, q);
        if (q[0] !== b && q[1] !== b) continue;
        const c = q[0] === b ? q[1] : q[0];
        if (c < v) terms.push(a, b, c);
      }
    }
    if (terms.length === 3 * starts[v]) {
      for (let i = offsets[v]; i < offsets[v + 1]; i++) {
        others(triangles, faces[i], v, p);
        if (p[0] < v) terms.push(p[0], -1, -1);
        if (p[1] < v) terms.push(p[1], -1, -1);
      }
    }
    if (v > 0 && terms.length === 3 * starts[v]) terms.push(v - 1, -1, -1);
    starts[v + 1] = terms.length / 3;
  }
  return { starts, terms: Int32Array.from(terms) };
}

function predict({ starts, terms }, v, x, base) {
  const first = starts[v];
  const n = starts[v + 1] - first;
  if (n === 0) return 0;
  let sum = 0;
  for (let i = 3 * first; i < 3 * (first + n); i += 3) {
    sum += x[base + terms[i]];
    if (terms[i + 2] >= 0) sum += x[base + terms[i + 1]] - x[base + terms[i + 2]];
  }
  return Math.floor(sum / n);
}

function readShape(reader, about) {
  const n = about.vertices;
  const r = about.modes;
  const triangles = reader.differences(3 * about.triangles);
  const user = reader.differences(n);
  const faces = facesOfVertices(n, triangles);
  const predictor = makePredictor(n, triangles, faces);
  const rest = new Float32Array(3 * n);
  const values = new Int32Array(n);
  for (let k = 0; k < 3; k++) {
    const coded = new Uint32Array(reader.planes(n, 4));
    for (let v = 0; v < n; v++) {
      values[v] = (predict(predictor, v, values, 0) + ((coded[v] >>> 1) ^ -(coded[v] & 1))) | 0;
      rest[3 * v + k] = about.origin[k] + about.position_step * values[v];
    }
  }
  const modes = new Int16Array(3 * n * r); // [mode][axis][vertex], times mode_steps[mode]
  for (let m = 0; m < r; m++) {
    const coded = new Uint16Array(reader.planes(3 * n, 2));
    for (let k = 0; k < 3; k++) {
      const base = (3 * m + k) * n;
      for (let v = 0; v < n; v++) {
        const c = coded[k * n + v];
        modes[base + v] = predict(predictor, v, modes, base) + ((c >>> 1) ^ -(c & 1));
      }
    }
  }
  return { ...about, n, r, triangles, user, faces, rest, modes };
}

// { about, variants: [{ shape, materials: [triangles] }], variantOf: [objects], tints: [objects][3], images: [bytes] }; shapes get uv and cornerUv.
function readLook(reader, about, abouts, shapes, objects) {
  shapes.forEach((s, i) => {
    if (!abouts[i].uv) return;
    s.uv = new Float32Array(reader.planes(2 * abouts[i].uv, 4));
    s.cornerUv = reader.differences(s.triangles.length);
  });
  const variants = about.variants.map((shape) => ({ shape: shapes[shape], materials: reader.differences(shapes[shape].triangles.length / 3) }));
  const variantOf = reader.differences(objects);
  const tints = new Float32Array(reader.planes(3 * objects, 4));
  return { about, variants, variantOf, tints, images: about.images.map((image) => new Uint8Array(reader.planes(image.bytes, 1))) };
}

// { title, up, shapes, objects: [{ shape, frame, point, coordinate }], points, coordinates,
//   times, q: [coordinate][frame], frames: [object][12][frame] or null, slowMotion, sound: { about, values } or null,
//   loads: [{ object, vertices, unit, vector, factors: [frame] }], look: as readLook or null };
// times is null for a basis.
export async function readScene(header, base64) {
  const reader = new Reader(await gunzip(base64));
  const shapes = header.shapes.map((about) => readShape(reader, about));
  const shapeOf = reader.differences(header.objects);
  const rest = new Float32Array(reader.planes(12 * header.objects, 4));
  const objects = [];
  let points = 0;
  let coordinates = 0;
  for (let i = 0; i < header.objects; i++) {
    const shape = shapes[shapeOf[i]];
    objects.push({ shape, frame: rest.subarray(12 * i, 12 * i + 12), point: points, coordinate: coordinates });
    points += shape.n;
    coordinates += shape.r;
  }
  const scene = { title: header.title, up: header.up, turntable: header.turntable === true, shapes, objects, points, coordinates, times: null, q: null, frames: null, sound: null };
  if (header.frames !== undefined) {
    const n = header.frames;
    scene.times = new Float64Array(reader.planes(n, 8));
    scene.q = new Float32Array(reader.planes(n * coordinates, 4));
    scene.slowMotion = header.slow_motion;
    scene.hasSpeeds = header.speeds !== false;
    if (header.moving_poses) scene.frames = new Float32Array(reader.planes(12 * n * header.objects, 4));
  }
  if (header.sound) {
    const coded = new Uint16Array(reader.planes(header.sound.samples * header.sound.channels, 2));
    scene.sound = { about: header.sound, values: Int16Array.from(coded, (c) => (c >>> 1) ^ -(c & 1)) };
  }
  scene.loads = (header.loads ?? []).map((load) => ({ ...load, factors: new Float32Array(reader.planes(header.frames, 4)) }));
  scene.look = header.look ? readLook(reader, header.look, header.shapes, shapes, header.objects) : null;
  if (reader.at !== reader.bytes.length) throw new Error('the data of this page are longer than their header says');
  return scene;
}

// R U q of point v of an object at a frame: the displacement in world axes, in metres.
export function displacementAt(scene, object, v, frame, out) {
  const { shape, coordinate } = object;
  const frames = scene.times.length;
  const u = [0, 0, 0];
  for (let m = 0; m < shape.r; m++) {
    const q = scene.q[(coordinate + m) * frames + frame] * shape.mode_steps[m];
    for (let k = 0; k < 3; k++) u[k] += q * shape.modes[(3 * m + k) * shape.n + v];
  }
  const index = scene.objects.indexOf(object);
  for (let k = 0; k < 3; k++) {
    out[k] = 0;
    for (let j = 0; j < 3; j++) {
      const R = scene.frames ? scene.frames[(12 * index + 4 * k + j) * frames + frame] : object.frame[4 * k + j];
      out[k] += R * u[j];
    }
  }
}

// { frequencies, curves: [{ probe, axis } or { object, mode }, with amplitudes and phases] }.
export async function readResponse(header, text) {
  const reader = new Reader(await gunzip(text));
  const n = header.points;
  const frequencies = new Float64Array(reader.planes(n, 8));
  const curves = header.curves.map((curve) => ({
    ...curve, amplitudes: new Float32Array(reader.planes(n, 4)), phases: new Float32Array(reader.planes(n, 4)),
  }));
  if (reader.at !== reader.bytes.length) throw new Error('the data of this page are longer than their header says');
  return { frequencies, curves };
}
