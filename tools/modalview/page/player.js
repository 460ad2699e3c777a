// SPDX-License-Identifier: Apache-2.0
// What the reduced coordinates and the objects' frames are now: those of a frame of a trajectory, or
// of the sliders of a basis.

// Coordinates, their rates, frames [object][12] and their rates, all as the deformer wants them.
function emptyState(scene) {
  return {
    q: new Float32Array(scene.coordinates), rates: new Float32Array(scene.coordinates),
    frames: new Float32Array(12 * scene.objects.length), frameRates: new Float32Array(12 * scene.objects.length),
  };
}

export class TrajectoryPlayer {
  constructor(scene) {
    this.scene = scene;
    this.state = emptyState(scene);
    this.count = scene.times.length;
    this.frame = 0;
    this.loop = true;
    this.perSecond = Math.min(60, Math.max(1, Math.min(30, this.count)));
    this.phase = 0;
  }

  // Goes on by `seconds` of playing; false: the end was reached.
  advance(seconds) {
    this.phase += seconds * this.perSecond;
    const whole = Math.floor(this.phase);
    this.phase -= whole;
    if (!this.loop && this.frame + whole >= this.count - 1) {
      this.frame = this.count - 1;
      return false;
    }
    this.frame = (this.frame + whole) % this.count;
    return true;
  }

  // Rates are central differences of the frames, one-sided at the ends.
  current() {
    const { scene, state, frame, count } = this;
    const before = Math.max(0, frame - 1);
    const after = Math.min(count - 1, frame + 1);
    const per = after > before ? 1 / (scene.times[after] - scene.times[before]) : 0;
    const fill = (series, values, rates) => {
      for (let i = 0; i < values.length; i++) {
        values[i] = series[i * count + frame];
        rates[i] = (series[i * count + after] - series[i * count + before]) * per;
      }
    };
    fill(scene.q, state.q, state.rates);
    if (scene.frames) fill(scene.frames, state.frames, state.frameRates);
    else scene.objects.forEach((o, i) => state.frames.set(o.frame, 12 * i));
    return state;
  }
}

// A slider at 1 moves the farthest point of its mode by a twentieth of the scene's size.
export class ModePlayer {
  constructor(scene, size) {
    this.scene = scene;
    this.state = emptyState(scene);
    this.time = 0;
    this.shape = scene.shapes[0];
    this.swing = true;
    scene.objects.forEach((o, i) => this.state.frames.set(o.frame, 12 * i));
    for (const s of scene.shapes) {
      s.sliders = new Float32Array(s.r);
      s.unit = s.mode_steps.map((step) => (0.05 * size) / (32767 * step));
    }
    this.shape.sliders[0] = 1;
  }

  advance(seconds) {
    this.time += seconds;
    return true;
  }

  // Swinging modes keep the ratio of their frequencies; the lowest one that moves takes two seconds.
  current() {
    for (const o of this.scene.objects) {
      const s = o.shape;
      const moving = s.frequencies.filter((f, m) => s.sliders[m] !== 0 && f > 0);
      const lowest = moving.length ? Math.min(...moving) : 1;
      for (let m = 0; m < s.r; m++) {
        const phase = Math.PI * this.time * (s.frequencies[m] / lowest);
        this.state.q[o.coordinate + m] = s.sliders[m] * s.unit[m] * (this.swing ? Math.cos(phase) : 1);
      }
    }
    return this.state;
  }
}
