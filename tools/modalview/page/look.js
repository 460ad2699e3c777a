// SPDX-License-Identifier: Apache-2.0
// Draws the points with the materials of a look (formats/look.md): a mesh for each material, Phong's shading in linear light.
// Shadows, ground and cameras are modalrender's.
import * as THREE from 'three';
import { common } from './deformer.js';

const WRAPS = { repeat: THREE.RepeatWrapping, mirror: THREE.MirroredRepeatWrapping, clamp: THREE.ClampToEdgeWrapping, none: THREE.ClampToEdgeWrapping };
const MOST_SORTED = 200000; // triangles that are sorted for every picture

const vertexShader = `${common}
uniform isampler2D info;
uniform sampler2D positions, normals, tints;
uniform mat4 projectionMatrix, modelViewMatrix;
in int point;
in vec2 uv;
out vec3 normal, seen, tint;
out vec2 place;
void main() {
  vec4 x = modelViewMatrix * vec4(texelFetch(positions, at(point), 0).xyz, 1.0);
  normal = mat3(modelViewMatrix) * texelFetch(normals, at(point), 0).xyz;
  tint = texelFetch(tints, at(texelFetch(info, at(2 * point), 0).w), 0).rgb;
  seen = x.xyz;
  place = uv;
  gl_Position = projectionMatrix * x;
}`;

// v points up, and the first row of an image is its highest.
const fragmentShader = `${common}
uniform sampler2D image, normal_image;
uniform mat4 modelViewMatrix;
uniform vec3 diffuse, ambient, specular, surroundings, directions[LIGHTS], colours[LIGHTS];
uniform float shininess, opacity, cutoff;
in vec3 normal, seen, tint;
in vec2 place;
out vec4 colour;

// The frame of u and v by how both change over the picture (C. Schueler, Followup: Normal Mapping Without Precomputed Tangents, 2013).
vec3 bent(vec3 n, float face) {
  vec3 q0 = dFdx(seen), q1 = dFdy(seen);
  vec2 s0 = dFdx(place), s1 = dFdy(place);
  vec3 p0 = cross(q1, n) * face, p1 = cross(n, q0) * face;
  vec3 T = p0 * s0.x + p1 * s1.x, B = p0 * s0.y + p1 * s1.y;
  float t = length(T), b = length(B);
  vec3 m = texture(normal_image, vec2(place.x, 1.0 - place.y)).xyz * 2.0 - 1.0;
  return normalize((t > 0.0 ? m.x / t * T : vec3(0.0)) + (b > 0.0 ? m.y / b * B : vec3(0.0)) + m.z * n);
}

vec3 encoded(vec3 x) {
  return mix(12.92 * x, 1.055 * pow(x, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, x));
}

void main() {
  vec4 texel = vec4(1.0);
#ifdef IMAGE
  texel = texture(image, vec2(place.x, 1.0 - place.y));
#endif
  float alpha = opacity * texel.a;
#if defined(CUTOUT)
  // An edge as wide as a pixel. Where alpha leaps within one (a wrap at the surface's end) 0 stays unseen and 1 seen.
  alpha = (alpha - cutoff) / max(min(fwidth(alpha), 2.0 * min(cutoff, 1.0 - cutoff)), 1e-4) + 0.5;
  if (alpha <= 0.0) discard;
#elif !defined(BLEND)
  alpha = 1.0;
#endif
  float face = gl_FrontFacing ? 1.0 : -1.0;
  vec3 n = normalize(normal) * face;
#ifdef NORMAL_IMAGE
  n = bent(n, face);
#endif
  vec3 to_eye = normalize(-seen), base = tint * texel.rgb;
  vec3 sum = surroundings * ambient * base;
  for (int i = 0; i < LIGHTS; i++) {
    vec3 l = -mat3(modelViewMatrix) * directions[i];
    float falls = dot(n, l);
    if (falls <= 0.0) continue;
    float shines = max(dot(2.0 * falls * n - l, to_eye), 0.0);
    sum += colours[i] * (falls * diffuse * base + (shines > 0.0 ? pow(shines, shininess) : 0.0) * specular);
  }
  colour = vec4(encoded(clamp(sum, 0.0, 1.0)), min(alpha, 1.0));
}`;

async function bitmap(bytes, about) {
  try {
    return await createImageBitmap(new Blob([bytes], { type: about.media_type }), { premultiplyAlpha: 'none', colorSpaceConversion: 'none' });
  } catch {
    throw new Error(`the image ${about.name} cannot be decoded`);
  }
}

// The corners of each material: { points, uv }.
function corners(scene) {
  const { variants, variantOf } = scene.look;
  const counts = new Float64Array(scene.look.about.materials.length);
  scene.objects.forEach((_, i) => { for (const m of variants[variantOf[i]].materials) counts[m] += 3; });
  const parts = Array.from(counts, (n) => (n ? { points: new Int32Array(n), uv: new Float32Array(2 * n), n: 0 } : null));
  scene.objects.forEach((o, i) => {
    const { materials } = variants[variantOf[i]];
    const { triangles, uv, cornerUv } = o.shape;
    for (let c = 0; c < triangles.length; c++) {
      const part = parts[materials[Math.floor(c / 3)]];
      part.points[part.n] = o.point + triangles[c];
      if (uv) {
        part.uv[2 * part.n] = uv[2 * cornerUv[c]];
        part.uv[2 * part.n + 1] = uv[2 * cornerUv[c] + 1];
      }
      part.n++;
    }
  });
  return parts;
}

export class Look {
  static async make(scene, deformer, drawing) {
    const look = new Look();
    look.images = await Promise.all(scene.look.images.map((bytes, i) => bitmap(bytes, scene.look.about.images[i])));
    look.build(scene, deformer, drawing);
    return look;
  }

  build(scene, deformer, drawing) {
    const { about, tints } = scene.look;
    this.textures = new Map();
    this.group = new THREE.Group();
    this.blended = [];
    const lights = about.lights.length ? about.lights : [{ direction: [0, 0, 1], colour: [0, 0, 0] }];
    const tintTexture = deformer.table(scene.objects.length);
    for (let i = 0; i < scene.objects.length; i++) tintTexture.image.data.set(tints.subarray(3 * i, 3 * i + 3), 4 * i);
    const shared = {
      info: deformer.uniforms.info, positions: drawing.uniforms.positions, normals: drawing.uniforms.normals, tints: { value: tintTexture },
      surroundings: { value: new THREE.Vector3(...about.ambient) },
      directions: { value: lights.map((l) => new THREE.Vector3(...l.direction)) }, colours: { value: lights.map((l) => new THREE.Vector3(...l.colour)) },
    };
    corners(scene).forEach((part, m) => { if (part) this.add(about.materials[m], part, shared, lights.length, drawing); });
  }

  add(material, part, shared, n, drawing) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('point', new THREE.Int32BufferAttribute(part.points, 1));
    geometry.setAttribute('uv', new THREE.BufferAttribute(part.uv, 2));
    geometry.setDrawRange(0, part.n);
    const blend = material.alpha === 'blend';
    const cutout = material.alpha === 'cutout';
    const vector = (v) => ({ value: new THREE.Vector3(...v) });
    const uniforms = {
      ...shared, diffuse: vector(material.diffuse), ambient: vector(material.ambient), specular: vector(material.specular),
      shininess: { value: material.shininess }, opacity: { value: material.opacity }, cutoff: { value: material.cutoff },
      image: { value: this.texture(material.image, material.wrap, true, drawing) },
      normal_image: { value: this.texture(material.normal_image, material.wrap, false, drawing) },
    };
    const defines = { LIGHTS: n };
    if (material.image !== undefined) defines.IMAGE = 1;
    if (material.normal_image !== undefined) defines.NORMAL_IMAGE = 1;
    if (cutout) defines.CUTOUT = 1;
    if (blend) defines.BLEND = 1;
    const mesh = new THREE.Mesh(geometry, new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3, vertexShader, fragmentShader, uniforms, defines, side: material.two_sided ? THREE.DoubleSide : THREE.FrontSide,
      transparent: blend, depthWrite: !blend, forceSinglePass: true,
      // Alpha says how many samples are covered; the canvas itself stays opaque.
      ...(cutout && { alphaToCoverage: true, blending: THREE.CustomBlending, blendSrc: THREE.OneFactor, blendDst: THREE.ZeroFactor,
        blendSrcAlpha: THREE.OneFactor, blendDstAlpha: THREE.OneFactor }),
    }));
    mesh.name = material.name;
    mesh.frustumCulled = false;
    if (blend && part.n <= 3 * MOST_SORTED) {
      geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from({ length: part.n }, (_, i) => i), 1));
      this.blended.push(mesh);
    }
    this.group.add(mesh);
  }

  texture(image, wrap, colours, drawing) {
    if (image === undefined) return null;
    const key = `${image} ${wrap} ${colours}`;
    if (!this.textures.has(key)) {
      const t = new THREE.Texture(this.images[image]);
      t.wrapS = t.wrapT = WRAPS[wrap];
      t.colorSpace = colours ? THREE.SRGBColorSpace : THREE.NoColorSpace;
      t.flipY = false;
      t.anisotropy = Math.min(8, drawing.renderer.capabilities.getMaxAnisotropy());
      t.needsUpdate = true;
      this.textures.set(key, t);
    }
    return this.textures.get(key);
  }

  // Blended triangles from back to front in each material, the materials by their means. positions: [points, 4], as the GPU has them.
  sort(positions, camera) {
    const towards = camera.getWorldDirection(new THREE.Vector3());
    for (const mesh of this.blended) {
      const points = mesh.geometry.attributes.point.array;
      const n = points.length / 3;
      const depths = new Float32Array(n);
      let total = 0;
      for (let t = 0; t < n; t++) {
        for (let k = 0; k < 3; k++) {
          const i = 4 * points[3 * t + k];
          depths[t] += positions[i] * towards.x + positions[i + 1] * towards.y + positions[i + 2] * towards.z;
        }
        total += depths[t];
      }
      const order = Uint32Array.from({ length: n }, (_, t) => t).sort((a, b) => depths[b] - depths[a]);
      const { index } = mesh.geometry;
      order.forEach((t, i) => { for (let k = 0; k < 3; k++) index.array[3 * i + k] = 3 * t + k; });
      index.needsUpdate = true;
      mesh.renderOrder = -total / n;
    }
  }
}
