// SPDX-License-Identifier: Apache-2.0
// Draws the points that the deformer has computed: shaded triangles, wireframe, the picked vertex.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { common } from './deformer.js';
import { colourMap, divergingMap } from './colour.js';

const uniformsOf = `
uniform sampler2D positions, normals, others, curvatures, map;
uniform mat4 projectionMatrix, modelViewMatrix;
uniform float scale;
uniform int field; // 0 none, 1 displacement, 2 speed, 3 strain, 4 displacement in the world, 5 .. 8 curvatures, around zero
float value_of(int i) {
  if (field == 1) return texelFetch(positions, at(i), 0).w;
  if (field == 2) return texelFetch(others, at(i), 0).w;
  if (field == 4) return texelFetch(others, at(i), 0).x;
  if (field >= 5) return texelFetch(curvatures, at(i), 0)[field - 5];
  return texelFetch(normals, at(i), 0).w;
}`;

const surface = {
  vertexShader: `${common}${uniformsOf}
out vec3 normal, view;
out float value;
void main() {
  int i = gl_VertexID;
  vec4 seen = modelViewMatrix * vec4(texelFetch(positions, at(i), 0).xyz, 1.0);
  normal = mat3(modelViewMatrix) * texelFetch(normals, at(i), 0).xyz;
  view = -seen.xyz;
  value = field == 0 ? 0.0 : value_of(i) * scale;
  if (field >= 5) value = 0.5 + 0.5 * value;
  gl_Position = projectionMatrix * seen;
}`,
  fragmentShader: `${common}
uniform sampler2D map;
uniform int field;
uniform vec3 plain;
in vec3 normal, view;
in float value;
out vec4 colour;
void main() {
  vec3 n = normalize(normal);
  if (!gl_FrontFacing) n = -n;
  vec3 base = field == 0 ? plain : texture(map, vec2(clamp(value, 0.0, 1.0) * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb;
  vec3 towards = normalize(view);
  float head = max(dot(n, towards), 0.0);
  float key = max(dot(n, normalize(vec3(0.4, 0.7, 0.6))), 0.0);
  float shine = pow(max(dot(n, normalize(towards + normalize(vec3(0.4, 0.7, 0.6)))), 0.0), 40.0);
  colour = vec4(base * (0.38 + 0.38 * head + 0.34 * key) + 0.12 * shine, 1.0);
}`,
};

const lines = {
  vertexShader: `${common}${uniformsOf}
void main() {
  gl_Position = projectionMatrix * modelViewMatrix * vec4(texelFetch(positions, at(gl_VertexID), 0).xyz, 1.0);
  gl_Position.z -= 1e-4 * gl_Position.w;
}`,
  fragmentShader: `${common}
uniform vec4 ink;
out vec4 colour;
void main() { colour = ink; }`,
};

// Geometry without vertices of its own: indices into the deformer's textures.
function indexed(indices) {
  const g = new THREE.BufferGeometry();
  g.setIndex(new THREE.BufferAttribute(indices, 1));
  return g;
}

export class Drawing {
  constructor(renderer, scene, deformer, canvas) {
    this.renderer = renderer;
    this.scene = scene;
    this.world = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.005, 50);
    this.canvas = canvas;
    this.onChange = () => {};
    this.turns = scene.turntable;
    this.maps = [colourMap(), divergingMap()].map((bytes) => {
      const map = new THREE.DataTexture(bytes, 256, 1);
      map.minFilter = map.magFilter = THREE.LinearFilter;
      map.needsUpdate = true;
      return map;
    });
    this.uniforms = {
      positions: { value: deformer.positions }, normals: { value: deformer.normals },
      others: { value: deformer.others }, curvatures: { value: deformer.curvatures }, map: { value: this.maps[0] }, scale: { value: 1 }, field: { value: 0 },
      plain: { value: new THREE.Color(0.62, 0.68, 0.76) }, ink: { value: new THREE.Vector4(0, 0, 0, 0.4) },
    };
    const material = (shaders, more) => new THREE.RawShaderMaterial({
      glslVersion: THREE.GLSL3, uniforms: this.uniforms, ...shaders, ...more });
    const triangles = new Uint32Array(scene.objects.reduce((n, o) => n + o.shape.triangles.length, 0));
    let at = 0;
    for (const o of scene.objects) for (const v of o.shape.triangles) triangles[at++] = v + o.point;
    this.mesh = new THREE.Mesh(indexed(triangles), material(surface, { side: THREE.DoubleSide }));
    this.wire = null;
    this.lineMaterial = material(lines, { transparent: true, depthWrite: false });
    this.picked = new THREE.Mesh(new THREE.SphereGeometry(0.008, 16, 12),
      new THREE.MeshBasicMaterial({ color: 0xe8590c, depthTest: false, transparent: true }));
    this.picked.visible = false;
    this.mesh.frustumCulled = false;
    this.world.add(this.mesh, this.picked);
    this.home('y');
  }

  // The look's meshes instead of the plain one.
  showLook(look, on) {
    this.mesh.visible = !on;
    if (look && look.group.parent !== this.world) this.world.add(look.group);
    if (look) look.group.visible = on;
  }

  // Turns the camera on, if it turns.
  turn(seconds) {
    if (this.turns) this.controls.update(seconds);
  }

  // Looks at the whole scene with this axis upwards.
  home(up) {
    this.camera.up.set(0, up === 'y' ? 1 : 0, up === 'z' ? 1 : 0);
    this.camera.position.set(1, up === 'y' ? 0.6 : -1.3, up === 'y' ? 1.3 : 0.6).multiplyScalar(1.05);
    this.controls?.dispose(); // it learns which axis is up when it is made
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener('change', () => this.onChange());
    this.controls.addEventListener('start', () => { this.turns = this.controls.autoRotate = false; }); // by hand
    this.controls.autoRotate = this.turns;
    this.controls.autoRotateSpeed = 5; // a turn in 12 s
    this.controls.update();
  }

  setWireframe(on) {
    if (on && !this.wire) {
      const edges = [];
      for (const o of this.scene.objects) {
        const { triangles } = o.shape;
        const seen = new Set(); // an edge of two triangles once, an edge of one at all
        for (let t = 0; t < triangles.length; t++) {
          const a = triangles[t];
          const b = triangles[t % 3 === 2 ? t - 2 : t + 1];
          const key = Math.min(a, b) * o.shape.n + Math.max(a, b);
          if (seen.has(key)) continue;
          seen.add(key);
          edges.push(a + o.point, b + o.point);
        }
      }
      this.wire = new THREE.LineSegments(indexed(Uint32Array.from(edges)), this.lineMaterial);
      this.wire.frustumCulled = false;
      this.world.add(this.wire);
    }
    if (this.wire) this.wire.visible = on;
  }

  setDark(dark) {
    this.renderer.setClearColor(dark ? 0x14171c : 0xf6f7f9, 1);
    this.uniforms.ink.value.set(...(dark ? [1, 1, 1, 0.35] : [0, 0, 0, 0.4]));
  }

  resize(width, height) {
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.fov = (360 / Math.PI) * Math.atan(0.32 / Math.min(1, width / height)); // upright phones, too, see all
    this.camera.updateProjectionMatrix();
  }

  // The vertex nearest to where the ray through (x, y) in [-1, 1]^2 first meets the surface, as the
  // index of a point; -1: it meets nothing. positions: [points, 4], as the GPU has them.
  pick(x, y, positions) {
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(x, y), this.camera);
    const corners = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    const hit = new THREE.Vector3();
    const indices = this.mesh.geometry.index.array;
    let nearest = Infinity;
    let found = -1;
    for (let t = 0; t < indices.length; t += 3) {
      for (let k = 0; k < 3; k++) corners[k].fromArray(positions, 4 * indices[t + k]);
      if (!caster.ray.intersectTriangle(...corners, false, hit)) continue;
      const distance = hit.distanceTo(caster.ray.origin);
      if (distance >= nearest) continue;
      nearest = distance;
      const away = corners.map((c) => c.distanceTo(hit));
      found = indices[t + away.indexOf(Math.min(...away))];
    }
    return found;
  }

  render() {
    this.renderer.render(this.world, this.camera);
  }
}
