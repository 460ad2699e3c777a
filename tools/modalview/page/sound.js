// SPDX-License-Identifier: Apache-2.0
// The sound of a trajectory, and the clock that it gives: what is heard and what is shown go together.
export class Sound {
  // about: { rate, channels, samples, step }; values: [sample][channel] integers times step.
  constructor(about, values) {
    this.about = about;
    this.values = values;
    this.on = false;
    this.source = null;
  }

  // From a click or a key only: browsers let nothing sound before. The buffer is made now.
  async start() {
    const { rate, channels, samples, step } = this.about;
    if (!this.context) {
      this.context = new AudioContext({ sampleRate: rate });
      this.buffer = this.context.createBuffer(channels, samples, rate);
      for (let c = 0; c < channels; c++) {
        const to = this.buffer.getChannelData(c);
        for (let i = 0; i < samples; i++) to[i] = this.values[i * channels + c] * step;
      }
    }
    await this.context.resume();
    this.on = true;
  }

  stop() {
    this.on = false;
    this.pause();
  }

  pause() {
    this.source?.stop();
    this.source = null;
  }

  // Plays from `time` s after the first frame on.
  play(time, loop) {
    this.pause();
    this.source = new AudioBufferSourceNode(this.context, { buffer: this.buffer, loop });
    this.source.connect(this.context.destination);
    this.started = this.context.currentTime - time;
    this.source.start(0, time);
  }

  // Seconds after the first frame that are heard now, beyond the end where it does not loop.
  now(loop) {
    const time = this.context.currentTime - this.started;
    return loop ? time % this.buffer.duration : time;
  }
}
