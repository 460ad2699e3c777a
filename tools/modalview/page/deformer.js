// SPDX-License-Identifier: Apache-2.0
// x = R (rest + U q) + p on the viewer's GPU: one pass computes the positions, displacements and speeds of all
// points, a second one normals and strain from the corners at each point, two more curvature where it is wanted. Results are
// textures that the drawing reads. Lengths on the GPU are relative to the scene: (x - centre) / size.
import * as THREE from 'three';
import { curvaturePasses } from './curvature.js';

const WIDTH = 2048; // points in a row of a texture

const fullScreen = `
void main() { gl_Position = vec4(vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0, 0.0, 1.0); }`;

export const common = `
precision highp float;
precision highp int;
precision highp isampler2D;
precision highp sampler2D;
ivec2 at(int i) { return ivec2(i & ${WIDTH - 1}, i >> ${Math.log2(WIDTH)}); }
`;

const positionPass = `${common}
uniform isampler2D info, modes;
uniform sampler2D rest, q, frames, start;
uniform vec3 centre;
uniform float inverse_size, exaggeration;
uniform int points;
layout(location = 0) out vec4 position; // and the length of the displacement, m
layout(location = 1) out vec4 others; // displacement in the world, m; speed, m/s
void main() {
  int i = int(gl_FragCoord.y) * ${WIDTH} + int(gl_FragCoord.x);
  position = others = vec4(0.0);
  if (i >= points) return;
  ivec4 a = texelFetch(info, at(2 * i), 0); // first mode, modes, first coordinate, object
  int r0 = texelFetch(info, at(2 * i + 1), 0).x;
  vec3 u = vec3(0.0), du = vec3(0.0);
  for (int m = 0; m < a.y; m++) {
    vec3 U = vec3(texelFetch(modes, at(a.x + m), 0).xyz);
    vec2 w = texelFetch(q, at(a.z + m), 0).xy;
    u += U * w.x;
    du += U * w.y;
  }
  vec3 x0 = texelFetch(rest, at(r0), 0).xyz;
  vec3 x, v, moved, carried;
  for (int k = 0; k < 3; k++) {
    vec4 T = texelFetch(frames, at(6 * a.w + k), 0), dT = texelFetch(frames, at(6 * a.w + 3 + k), 0);
    x[k] = dot(T.xyz, x0 + exaggeration * u) + (T.w - centre[k]);
    v[k] = dot(dT.xyz, x0 + u) + dot(T.xyz, du) + dT.w;
    moved[k] = dot(T.xyz, u);
    vec4 T0 = texelFetch(start, at(3 * a.w + k), 0);
    carried[k] = dot(T.xyz, x0 + u) - dot(T0.xyz, x0) + (T.w - T0.w);
  }
  position = vec4(x * inverse_size, length(moved));
  others = vec4(length(carried), 0.0, 0.0, length(v));
}`;

const normalPass = `${common}
uniform isampler2D info, corners;
uniform sampler2D rest, positions;
uniform float size;
uniform int points;
layout(location = 0) out vec4 normal; // and the mean change of length of the edges, relative
void main() {
  int i = int(gl_FragCoord.y) * ${WIDTH} + int(gl_FragCoord.x);
  normal = vec4(0.0);
  if (i >= points) return;
  ivec4 b = texelFetch(info, at(2 * i + 1), 0); // rest position, first corner, corners, first point
  int first_rest = b.x - (i - b.w);
  vec3 x = texelFetch(positions, at(i), 0).xyz, x0 = texelFetch(rest, at(b.x), 0).xyz, sum = vec3(0.0);
  float strain = 0.0;
  for (int k = 0; k < b.z; k++) {
    ivec2 c = texelFetch(corners, at(b.y + k), 0).xy;
    vec3 d = texelFetch(positions, at(b.w + c.x), 0).xyz - x, e = texelFetch(positions, at(b.w + c.y), 0).xyz - x;
    float d0 = length(texelFetch(rest, at(first_rest + c.x), 0).xyz - x0);
    float e0 = length(texelFetch(rest, at(first_rest + c.y), 0).xyz - x0);
    sum += cross(d, e);
    strain += abs(length(d) * size / d0 - 1.0) + abs(length(e) * size / e0 - 1.0);
  }
  float area = length(sum);
  normal = vec4(area > 0.0 ? sum / area : vec3(0.0), b.z > 0 ? strain / float(2 * b.z) : 0.0);
}`;

function texture(renderer, Type, perTexel, count, format, type, internal) {
  const height = Math.max(1, Math.ceil(count / WIDTH));
  if (height > renderer.capabilities.maxTextureSize) {
    throw new Error('this mesh is larger than a texture of this GPU');
  }
  const t = new THREE.DataTexture(new Type(WIDTH * height * perTexel), WIDTH, height, format, type);
  if (internal) t.internalFormat = internal;
  t.unpackAlignment = 1;
  t.needsUpdate = true;
  return t;
}

function pass(fragmentShader, uniforms) {
  const material = new THREE.RawShaderMaterial({
    glslVersion: THREE.GLSL3, vertexShader: fullScreen, fragmentShader, uniforms, depthTest: false, depthWrite: false,
  });
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(9), 3));
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  const scene = new THREE.Scene();
  scene.add(mesh);
  return scene;
}

export class Deformer {
  constructor(renderer, scene) {
    this.renderer = renderer;
    this.scene = scene;
    this.camera = new THREE.Camera();
    const gl = renderer.getContext();
    // Phones that cannot render to float32 get float16: coarser, still right to a thousandth.
    this.type = gl.getExtension('EXT_color_buffer_float') ? THREE.FloatType : THREE.HalfFloatType;
    const float = (count) => this.table(count);
    const info = texture(renderer, Int32Array, 4, 2 * scene.points, THREE.RGBAIntegerFormat, THREE.IntType, 'RGBA32I');
    const total = (of) => scene.shapes.reduce((sum, s) => sum + of(s), 0);
    const rest = float(total((s) => s.n));
    const modes = texture(renderer, Int16Array, 4, total((s) => s.n * s.r), THREE.RGBAIntegerFormat, THREE.ShortType, 'RGBA16I');
    const corners = texture(renderer, Int32Array, 2, total((s) => s.triangles.length), THREE.RGIntegerFormat, THREE.IntType, 'RG32I');
    this.q = float(scene.coordinates);
    this.frames = float(6 * scene.objects.length);
    const start = float(3 * scene.objects.length); // rest frames
    scene.objects.forEach((o, i) => start.image.data.set(o.frame, 12 * i));
    this.fillShapes(rest, modes, corners);
    this.fillInfo(info.image.data);

    const height = Math.ceil(scene.points / WIDTH);
    const target = (count) => new THREE.WebGLRenderTarget(WIDTH, height, {
      count, type: this.type, format: THREE.RGBAFormat, depthBuffer: false,
      minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter, generateMipmaps: false,
    });
    this.moved = target(2);
    this.shaded = target(1);
    this.cornerNormals = target(1);
    this.bent = target(1);
    this.curved = false; // curvature is wanted
    this.uniforms = {
      info: { value: info }, modes: { value: modes }, rest: { value: rest }, corners: { value: corners },
      q: { value: this.q }, frames: { value: this.frames }, start: { value: start }, centre: { value: new THREE.Vector3() },
      size: { value: 1 }, inverse_size: { value: 1 }, exaggeration: { value: 1 }, points: { value: scene.points },
      positions: { value: this.moved.textures[0] }, corner_normals: { value: this.cornerNormals.texture },
    };
    this.passes = [[pass(positionPass, this.uniforms), this.moved], [pass(normalPass, this.uniforms), this.shaded]];
    const [ofCorners, curvature] = curvaturePasses(common, WIDTH).map((shader) => pass(shader, this.uniforms));
    this.curvaturePasses = [[ofCorners, this.cornerNormals], [curvature, this.bent]];
  }

  // A texture of `count` texels of four floats, read by at().
  table(count) { return texture(this.renderer, Float32Array, 4, count, THREE.RGBAFormat, THREE.FloatType); }

  get positions() { return this.moved.textures[0]; }

  get others() { return this.moved.textures[1]; }

  get normals() { return this.shaded.texture; }

  get curvatures() { return this.bent.texture; }

  // float16 does not hold the second differences that curvature is made of.
  get canCurve() { return this.type === THREE.FloatType; }

  fillShapes(rest, modes, corners) {
    let r0 = 0;
    let m0 = 0;
    let c0 = 0;
    for (const s of this.scene.shapes) {
      Object.assign(s, { firstRest: r0, firstMode: m0, firstCorner: c0 });
      for (let v = 0; v < s.n; v++) {
        for (let k = 0; k < 3; k++) {
          rest.image.data[4 * (r0 + v) + k] = s.rest[3 * v + k];
          for (let m = 0; m < s.r; m++) modes.image.data[4 * (m0 + v * s.r + m) + k] = s.modes[(3 * m + k) * s.n + v];
        }
        for (let i = s.faces.offsets[v]; i < s.faces.offsets[v + 1]; i++) {
          const t = 3 * s.faces.faces[i];
          const k = s.triangles[t] === v ? 0 : s.triangles[t + 1] === v ? 1 : 2;
          corners.image.data[2 * (c0 + i)] = s.triangles[t + ((k + 1) % 3)];
          corners.image.data[2 * (c0 + i) + 1] = s.triangles[t + ((k + 2) % 3)];
        }
      }
      r0 += s.n;
      m0 += s.n * s.r;
      c0 += s.triangles.length;
    }
  }

  fillInfo(info) {
    this.scene.objects.forEach((object, index) => {
      const s = object.shape;
      for (let v = 0; v < s.n; v++) {
        info.set([s.firstMode + v * s.r, s.r, object.coordinate, index,
          s.firstRest + v, s.firstCorner + s.faces.offsets[v], s.faces.offsets[v + 1] - s.faces.offsets[v], object.point],
        8 * (object.point + v));
      }
    });
  }

  // q and its rate of every coordinate; frames: [object][12] and their rates.
  run(q, rates, frames, frameRates) {
    for (const o of this.scene.objects) {
      for (let m = 0; m < o.shape.r; m++) {
        this.q.image.data[4 * (o.coordinate + m)] = q[o.coordinate + m] * o.shape.mode_steps[m];
        this.q.image.data[4 * (o.coordinate + m) + 1] = rates[o.coordinate + m] * o.shape.mode_steps[m];
      }
    }
    for (let i = 0; i < this.scene.objects.length; i++) {
      for (let k = 0; k < 12; k++) {
        this.frames.image.data[24 * i + k] = frames[12 * i + k];
        this.frames.image.data[24 * i + 12 + k] = frameRates[12 * i + k];
      }
    }
    this.q.needsUpdate = this.frames.needsUpdate = true;
    for (const [scene, target] of this.curved ? [...this.passes, ...this.curvaturePasses] : this.passes) {
      this.renderer.setRenderTarget(target);
      this.renderer.render(scene, this.camera);
    }
    this.renderer.setRenderTarget(null);
  }

  // One of the results, [points, 4], read back.
  read(target, index = 0) {
    const { width, height } = target;
    const bytes = this.type === THREE.FloatType ? new Float32Array(4 * width * height) : new Uint16Array(4 * width * height);
    this.renderer.readRenderTargetPixels(target, 0, 0, width, height, bytes, undefined, index);
    const values = bytes instanceof Float32Array ? bytes : Float32Array.from(bytes, THREE.DataUtils.fromHalfFloat);
    return values.subarray(0, 4 * this.scene.points);
  }

  // World positions in metres, [points, 3].
  worldPositions() {
    const p = this.read(this.moved);
    const { centre, size } = this.uniforms;
    const x = new Float64Array(3 * this.scene.points);
    for (let i = 0; i < this.scene.points; i++) {
      for (let k = 0; k < 3; k++) x[3 * i + k] = p[4 * i + k] * size.value + centre.value.getComponent(k);
    }
    return x;
  }
}
