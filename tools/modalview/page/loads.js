// SPDX-License-Identifier: Apache-2.0
// Forces and impulses as arrows whose heads are at the points where they act.
import * as THREE from 'three';

const LONGEST = 0.2; // of the scene's size
const COLOURS = { N: 0xe8590c, 'N s': 0x9c36b5 };

export class Loads {
  constructor(scene, world) {
    this.scene = scene;
    this.visible = true;
    const largest = {}; // of each unit
    for (const load of scene.loads) {
      const most = Math.hypot(...load.vector) * load.factors.reduce((a, f) => Math.max(a, Math.abs(f)), 0);
      largest[load.unit] = Math.max(largest[load.unit] ?? 0, most);
    }
    this.arrows = scene.loads.map((load) => {
      const arrow = new THREE.ArrowHelper(new THREE.Vector3(0, 1, 0), new THREE.Vector3(), 1, COLOURS[load.unit]);
      for (const part of [arrow.line, arrow.cone]) Object.assign(part.material, { depthTest: false, transparent: true });
      world.add(arrow);
      return { arrow, load, scale: largest[load.unit] > 0 ? LONGEST / largest[load.unit] : 0 };
    });
  }

  // positions: [points, 4], as the GPU has them.
  show(frame, positions) {
    const at = new THREE.Vector3();
    const force = new THREE.Vector3();
    for (const { arrow, load, scale } of this.arrows) {
      force.fromArray(load.vector).multiplyScalar(load.factors[frame] * scale);
      const length = force.length();
      arrow.visible = this.visible && length > 1e-3 * LONGEST;
      if (!arrow.visible) continue;
      at.set(0, 0, 0);
      const first = this.scene.objects[load.object].point;
      for (const v of load.vertices) for (let k = 0; k < 3; k++) at.setComponent(k, at.getComponent(k) + positions[4 * (first + v) + k] / load.vertices.length);
      arrow.setLength(length, Math.min(0.04, 0.4 * length), Math.min(0.02, 0.2 * length));
      arrow.setDirection(force.normalize());
      arrow.position.copy(at).addScaledVector(force, -length); // the head is where it acts
    }
  }
}
