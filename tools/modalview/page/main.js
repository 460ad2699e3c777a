// SPDX-License-Identifier: Apache-2.0
// The page: reads its data, deforms and draws, and does what its controls say.
import * as THREE from 'three';
import { readScene, displacementAt } from './data.js';
import { Deformer } from './deformer.js';
import { Drawing } from './drawing.js';
import { TrajectoryPlayer, ModePlayer } from './player.js';
import { Loads } from './loads.js';
import { Look } from './look.js';
import { Sound } from './sound.js';
import { drawPlot } from './plot.js';
import { showQuality } from './quality.js';
import { colourMap, divergingMap } from './colour.js';
import { robustRange } from './curvature.js';

const $ = (id) => document.getElementById(id);
const number = (x) => (x === 0 ? '0' : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e5 ? x.toPrecision(4) : x.toExponential(3));
const rateText = (slow) => (slow === 1 ? 'its own' : slow > 1 ? `${Number(slow.toPrecision(3))} × slower` : `${Number((1 / slow).toPrecision(3))} × faster`);
const FIELDS = [null, { name: 'displacement', unit: 'm' }, { name: 'speed', unit: 'm/s' }, { name: 'strain', unit: '' },
  { name: 'displacement in the world', unit: 'm' }, { name: 'k_max', unit: '1/m', around: true }, { name: 'k_min', unit: '1/m', around: true },
  { name: 'mean curvature', unit: '1/m', around: true }, { name: 'Gauss curvature', unit: '1/m²', around: true }, { name: 'look' }]; // around: zero
const LOOK = 9; // which is no field that is measured

// How many decimals tell the times of neighbouring frames apart.
function decimalsOf(times) {
  let step = Infinity;
  for (let i = 1; i < times.length; i++) step = Math.min(step, times[i] - times[i - 1]);
  return step < Infinity ? Math.min(12, Math.max(0, Math.ceil(-Math.log10(step)) + 1)) : 3;
}

// The box of all objects at rest, or in the first frame.
function bounds(scene) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const n = scene.times ? scene.times.length : 1;
  scene.objects.forEach((o, index) => {
    for (let v = 0; v < o.shape.n; v++) {
      for (let k = 0; k < 3; k++) {
        const T = (j) => (scene.frames ? scene.frames[(12 * index + 4 * k + j) * n] : o.frame[4 * k + j]);
        let x = T(3);
        for (let j = 0; j < 3; j++) x += T(j) * o.shape.rest[3 * v + j];
        low[k] = Math.min(low[k], x);
        high[k] = Math.max(high[k], x);
      }
    }
  });
  const size = Math.max(...high.map((h, k) => h - low[k])) || 1;
  return { centre: high.map((h, k) => (h + low[k]) / 2), size };
}

async function start() {
  const header = JSON.parse($('header').textContent);
  const scene = await readScene(header, $('data').textContent);
  const canvas = $('view');
  const renderer = new THREE.WebGLRenderer({
    canvas, antialias: true, powerPreference: 'high-performance',
    preserveDrawingBuffer: true, // else a saved or printed picture of the page may be empty
  });
  const deformer = new Deformer(renderer, scene);
  const drawing = new Drawing(renderer, scene, deformer, canvas);
  const look = scene.look ? await Look.make(scene, deformer, drawing) : null;
  const { centre, size } = bounds(scene);
  deformer.uniforms.centre.value.set(...centre);
  deformer.uniforms.size.value = size;
  deformer.uniforms.inverse_size.value = 1 / size;
  const isTrajectory = scene.times !== null;
  const decimals = isTrajectory ? decimalsOf(scene.times) : 0;
  const player = isTrajectory ? new TrajectoryPlayer(scene) : new ModePlayer(scene, size);
  const ui = { playing: true, field: 0, ranges: FIELDS.map(() => 0), picked: -1, up: scene.up, dirty: true, measured: 0 };
  document.title = scene.title;
  $('title').textContent = scene.title;
  $('about').textContent = `${scene.points.toLocaleString('en')} vertices, ${scene.objects.length} object${scene.objects.length > 1 ? 's' : ''}, `
    + (isTrajectory ? `${player.count} frames` : `${scene.shapes[0].r} modes`)
    + (header.reduced ? `, ${header.reduced.columns} columns, off by at most ${(100 * header.reduced.error).toPrecision(2)} % of the largest displacement` : '');
  document.body.classList.add(isTrajectory ? 'trajectory' : 'modes');

  const repaint = () => { ui.dirty = true; };
  const loads = scene.loads?.length ? new Loads(scene, drawing.world) : null;
  $('loads-row').hidden = !loads;

  // ---- colours ----
  const legend = $('ramp').getContext('2d');
  const ramps = [colourMap(), divergingMap()];
  const drawLegend = (bytes) => {
    for (let i = 0; i < 256; i++) {
      legend.fillStyle = `rgb(${bytes[4 * i]},${bytes[4 * i + 1]},${bytes[4 * i + 2]})`;
      legend.fillRect(i, 0, 1, 1);
    }
  };
  // The range grows to the largest shown so far; choosing the field anew starts it again.
  function measureRange() {
    const { unit, around } = FIELDS[ui.field];
    if (around) {
      ui.ranges[ui.field] = Math.max(ui.ranges[ui.field], robustRange(deformer.read(deformer.bent), ui.field - 5));
    } else {
      const [target, index, at] = [null, [deformer.moved, 0, 3], [deformer.moved, 1, 3], [deformer.shaded, 0, 3], [deformer.moved, 1, 0]][ui.field];
      const values = deformer.read(target, index);
      for (let i = at; i < values.length; i += 4) if (values[i] > ui.ranges[ui.field]) ui.ranges[ui.field] = values[i];
    }
    drawing.uniforms.scale.value = ui.ranges[ui.field] > 0 ? 1 / ui.ranges[ui.field] : 0;
    $('least').textContent = around ? `−${number(ui.ranges[ui.field])}` : '0';
    $('most').textContent = `${number(ui.ranges[ui.field])} ${unit}`;
  }
  function setField(field) {
    ui.field = field;
    ui.ranges[field] = 0;
    ui.measured = 0;
    const around = Number(field > 0 && Boolean(FIELDS[field].around));
    const measured = field > 0 && field !== LOOK;
    drawing.uniforms.field.value = measured ? field : 0;
    drawing.showLook(look, field === LOOK);
    drawing.uniforms.map.value = drawing.maps[around];
    drawLegend(ramps[around]);
    deformer.curved = around === 1;
    $('legend').hidden = !measured;
    $('colour').value = String(field);
    $('legend-name').textContent = measured ? FIELDS[field].name : '';
    repaint();
  }

  // ---- the picked vertex ----
  function showPicked() {
    $('probe').hidden = ui.picked < 0;
    if (ui.picked < 0) return;
    const index = scene.objects.findLastIndex((o) => o.point <= ui.picked);
    const object = scene.objects[index];
    const v = ui.picked - object.point;
    $('probe-name').textContent = `vertex ${object.shape.user[v]}${scene.objects.length > 1 ? ` of object ${index}` : ''}`;
    if (!ui.series || ui.series.point !== ui.picked) {
      const n = isTrajectory ? player.count : 0;
      const series = { point: ui.picked, values: new Float64Array(3 * n) };
      const u = [0, 0, 0];
      for (let f = 0; f < n; f++) {
        displacementAt(scene, object, v, f, u);
        series.values.set(u, 3 * f);
      }
      ui.series = series;
    }
    const u = isTrajectory ? ui.series.values.subarray(3 * player.frame, 3 * player.frame + 3) : displacementNow(object, v);
    $('probe-value').textContent = `u = (${[...u].map(number).join(', ')}) m, |u| = ${number(Math.hypot(...u))} m`;
    if (isTrajectory) drawPlot($('plot'), scene.times, ui.series.values, player.frame);
  }
  function displacementNow(object, v) {
    const q = player.state.q.subarray(object.coordinate, object.coordinate + object.shape.r);
    const now = { times: [0], q: Float32Array.from(scene.coordinates ? player.state.q : []), frames: null, objects: scene.objects };
    const u = [0, 0, 0];
    if (q.length) displacementAt(now, object, v, 0, u);
    return u;
  }
  function pickAt(event) {
    const box = canvas.getBoundingClientRect();
    const x = (2 * (event.clientX - box.left)) / box.width - 1;
    const y = 1 - (2 * (event.clientY - box.top)) / box.height;
    ui.picked = drawing.pick(x, y, deformer.read(deformer.moved));
    repaint();
  }
  let pressed = null;
  canvas.addEventListener('pointerdown', (e) => { pressed = [e.clientX, e.clientY]; });
  canvas.addEventListener('pointerup', (e) => {
    if (pressed && Math.hypot(e.clientX - pressed[0], e.clientY - pressed[1]) < 4) pickAt(e);
    pressed = null;
  });
  $('unpick').addEventListener('click', () => { ui.picked = -1; repaint(); });
  $('copy').addEventListener('click', () => {
    const rows = ['time,ux,uy,uz'];
    for (let f = 0; f < player.count; f++) rows.push([scene.times[f], ...ui.series.values.subarray(3 * f, 3 * f + 3)].join(','));
    navigator.clipboard?.writeText(`${rows.join('\n')}\n`);
  });

  // ---- controls ----
  const sound = scene.sound ? new Sound(scene.sound.about, scene.sound.values) : null;
  const hear = () => { // after a jump, and where playing begins or ends
    if (!sound?.on) return;
    if (ui.playing) sound.play(player.time >= player.duration ? 0 : player.time, player.loop);
    else sound.pause();
  };
  function setPlaying(on) {
    ui.playing = on;
    if (on && isTrajectory && !player.loop && player.time >= player.duration) player.setFrame(0);
    hear();
    $('play').textContent = on ? '❚❚' : '▶';
    $('play').setAttribute('aria-label', on ? 'pause' : 'play');
    repaint();
  }
  function setFrame(frame) {
    player.setFrame(frame);
    hear();
    repaint();
  }
  const toggle = (id, apply) => {
    $(id).addEventListener('change', () => { apply($(id).checked); repaint(); });
    return () => { $(id).checked = !$(id).checked; apply($(id).checked); repaint(); };
  };
  const toggleWire = toggle('wire', (on) => drawing.setWireframe(on));
  const toggleDark = toggle('dark', (on) => { document.body.classList.toggle('dark', on); drawing.setDark(on); });
  toggle('loads', (on) => { loads.visible = on; });
  const toggleLoop = toggle('loop', (on) => { player.loop = on; hear(); });
  const lookFrom = (up) => { ui.up = up; $('up').textContent = `${up} up`; drawing.home(up); repaint(); };
  const turn = () => lookFrom(ui.up === 'y' ? 'z' : 'y');
  $('play').addEventListener('click', () => setPlaying(!ui.playing));
  $('up').addEventListener('click', turn);
  $('panel-toggle').addEventListener('click', () => document.body.classList.toggle('panel'));
  $('colour').addEventListener('change', () => setField(Number($('colour').value)));
  const exaggerate = () => {
    const factor = 10 ** Number($('exaggeration').value);
    deformer.uniforms.exaggeration.value = factor;
    $('exaggeration-value').textContent = `${factor.toPrecision(3)} ×`;
    repaint();
  };
  $('exaggeration').addEventListener('input', exaggerate);
  // Sound has its own rate only: another one is silent.
  const setSound = async (on) => {
    if (on) {
      await sound.start();
      setRate(1);
    } else {
      sound.stop();
    }
    $('sound').textContent = on ? '♪ on' : '♪ off';
    $('sound').setAttribute('aria-pressed', String(on));
    hear();
  };
  function setRate(slow) {
    player.slow = slow;
    $('rate').value = String(-Math.log10(slow));
    $('rate-value').textContent = rateText(slow);
    if (slow !== 1 && sound?.on) setSound(false);
    repaint();
  }
  if (isTrajectory) {
    $('frame').max = String(player.count - 1);
    showQuality($('quality'), $('reason'), header.quality);
    $('frame').addEventListener('input', () => { setPlaying(false); setFrame(Number($('frame').value)); });
    setRate(player.slow);
    $('rate').addEventListener('input', () => setRate(Math.abs($('rate').value) < 0.05 ? 1 : 10 ** -Number($('rate').value)));
    $('sound').hidden = !sound;
    $('sound').textContent = '♪ off';
    $('sound').addEventListener('click', () => setSound(!sound.on));
  } else {
    $('swing').addEventListener('change', () => { player.swing = $('swing').checked; repaint(); });
    for (const [i, s] of scene.shapes.entries()) $('shape').add(new Option(s.name || `shape ${i}`, String(i)));
    $('shape-row').hidden = scene.shapes.length < 2;
    $('shape').addEventListener('change', () => { player.shape = scene.shapes[Number($('shape').value)]; showSliders(); });
    showSliders();
  }
  function showSliders() {
    const s = player.shape;
    $('sliders').replaceChildren(...[...s.sliders.keys()].map((m) => {
      const row = document.createElement('label');
      const input = Object.assign(document.createElement('input'), { type: 'range', min: -3, max: 3, step: 0.01, value: s.sliders[m] });
      input.id = `mode-${m}`;
      input.addEventListener('input', () => { s.sliders[m] = Number(input.value); repaint(); });
      input.addEventListener('dblclick', () => { input.value = 0; s.sliders[m] = 0; repaint(); });
      const text = document.createElement('span');
      text.textContent = `mode ${m}, ${number(s.frequencies[m])} Hz`;
      row.append(text, input);
      return row;
    }));
  }
  const keys = {
    ' ': () => setPlaying(!ui.playing), w: toggleWire, d: toggleDark, u: turn, Escape: () => { ui.picked = -1; repaint(); },
    h: () => { drawing.home(ui.up); repaint(); }, c: () => {
      const fields = [...$('colour').options].map((o) => Number(o.value));
      setField(fields[(fields.indexOf(ui.field) + 1) % fields.length]);
    },
    '?': () => $('help').togglePopover?.(),
    ...(isTrajectory && {
      l: toggleLoop, 1: () => setRate(1), s: () => sound && setSound(!sound.on), ArrowRight: () => { setPlaying(false); setFrame(player.frame + 1); }, Home: () => setFrame(0),
      ArrowLeft: () => { setPlaying(false); setFrame(player.frame - 1); }, End: () => setFrame(player.count - 1),
    }),
  };
  document.addEventListener('keydown', (e) => {
    const typing = e.target instanceof HTMLInputElement && e.target.type === 'range' && e.key.startsWith('Arrow');
    if (e.ctrlKey || e.metaKey || e.altKey || typing || !keys[e.key]) return;
    if (e.key === ' ' && e.target instanceof HTMLButtonElement) return; // the button's own key
    e.preventDefault();
    keys[e.key]();
  });
  if (!scene.hasSpeeds) $('colour').querySelector('option[value="2"]').remove(); // no time, or frames that do not follow the motion
  if (!scene.frames) $('colour').querySelector('option[value="4"]').remove(); // nothing carries anything
  if (look) $('colour').add(new Option('look', String(LOOK)), 0);
  if (!deformer.canCurve) for (const o of [...$('colour').options]) if (FIELDS[o.value]?.around) o.remove();
  const resize = () => {
    renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
    const box = canvas.parentElement.getBoundingClientRect();
    drawing.resize(box.width, box.height);
    repaint();
  };
  new ResizeObserver(resize).observe(canvas.parentElement);
  drawing.onChange = repaint;
  const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
  $('dark').checked = dark;
  document.body.classList.toggle('dark', dark);
  drawing.setDark(dark);
  exaggerate();
  lookFrom(scene.up);
  // page.html#frame=12&colour=k_max opens there, paused.
  const asked = new URLSearchParams(window.location.hash.slice(1));
  const colour = [...$('colour').options].find((o) => o.value > 0 && FIELDS[o.value].name.replaceAll(' ', '_') === asked.get('colour'));
  setField(colour ? Number(colour.value) : look ? LOOK : 1);
  const wanted = isTrajectory && /^\d+$/.test(asked.get('frame') ?? '');
  setPlaying(!wanted);
  if (wanted) setFrame(Number(asked.get('frame')));

  // ---- the loop ----
  function show(now) {
    const state = player.current();
    deformer.run(state.q, state.rates, state.frames, state.frameRates);
    if (ui.field && ui.field !== LOOK && now - ui.measured > 250) {
      ui.measured = now;
      measureRange();
    }
    drawing.picked.visible = ui.picked >= 0;
    const sorted = ui.field === LOOK && look.blended.length > 0;
    const positions = ui.picked >= 0 || loads?.visible || sorted ? deformer.read(deformer.moved) : null;
    if (sorted) look.sort(positions, drawing.camera);
    if (ui.picked >= 0) drawing.picked.position.fromArray(positions, 4 * ui.picked);
    loads?.show(player.frame, positions);
    drawing.render();
    if (isTrajectory) {
      $('frame').value = String(player.frame);
      $('time').textContent = `frame ${player.frame}, t = ${scene.times[player.frame].toFixed(decimals)} s`;
    }
    showPicked();
  }
  let last = performance.now();
  function step(now) {
    const seconds = Math.min(0.25, Math.max(0, (now - last) / 1000)); // a first frame may be dated before start
    last = now;
    if (ui.playing) {
      const before = player.frame;
      if (!(sound?.on ? player.goTo(sound.now(player.loop)) : player.advance(seconds))) setPlaying(false);
      if (!isTrajectory || player.frame !== before) ui.dirty = true;
    }
    drawing.turn(seconds);
    if (ui.dirty) {
      ui.dirty = false;
      show(now);
    }
    requestAnimationFrame(step);
  }
  requestAnimationFrame(step);
  // For who drives the page from outside.
  window.modalview = { scene, player, deformer, drawing, ui, sound, loads, look, setFrame, setPlaying, setField, setRate, show: () => show(performance.now()) };
  document.body.classList.add('ready');
}

start().catch((error) => {
  $('problem').hidden = false;
  $('problem').textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
