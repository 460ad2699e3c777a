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
    this.slow = scene.slowMotion; // seconds that are shown for a second
    this.time = 0; // s after the first frame
    this.duration = scene.times[this.count - 1] - scene.times[0];
    // the last frame is shown as long as the others are on average; one frame alone for a second
    this.period = this.count > 1 ? (this.duration * this.count) / (this.count - 1) : 1;
  }

  // The last frame that is not later; false: the end was reached.
  goTo(time) {
    const ended = !this.loop && time >= this.duration;
    this.time = ended ? this.duration : time % this.period;
    let low = 0;
    let high = this.count;
    const t = this.scene.times[0] + this.time;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.scene.times[middle] <= t) low = middle;
      else high = middle;
    }
    this.frame = low;
    return !ended;
  }

  setFrame(frame) {
    this.frame = Math.min(this.count - 1, Math.max(0, frame));
    this.time = this.scene.times[this.frame] - this.scene.times[0];
  }

  // Goes on by `seconds` of playing; false: the end was reached.
  advance(seconds) {
    return this.goTo(this.time + seconds / this.slow);
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
