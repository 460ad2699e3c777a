// SPDX-License-Identifier: Apache-2.0
// node build.mjs PAGE.html RESPONSE.html: the page of motions and that of responses with style and script in them; header and
// data are still marks, which modalview fills in. The large script is compressed as the data are: a quarter of its size.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

// As modalview's write_characters, and unpacked by the page itself.
function pack(bytes) {
  const text = [];
  let held = 0;
  let n = 0;
  const put = (c) => text.push(String.fromCharCode(c === 0 || c === 13 || c === 60 ? c + 256 : c));
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0x7fff;
    for (n += 8; n >= 7; n -= 7) put((held >> (n - 7)) & 127);
  }
  if (n > 0) put((held << (7 - n)) & 127);
  return text.join('');
}

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, name), 'utf8');
async function bundle(name) {
  const built = await build({
    entryPoints: [join(here, name)], bundle: true, minify: true, write: false, format: 'iife',
    target: 'es2022', legalComments: 'inline', logLevel: 'warning',
  });
  return built.outputFiles[0].contents;
}
const fill = (page, script) => read(page)
  .replace('@@STYLE@@', () => read('page.css'))
  .replace('@@UNPACK@@', () => read('unpack.js'))
  .replace('@@SCRIPT@@', () => script);
const [motion, response] = process.argv.slice(2);
writeFileSync(motion, fill('page.html', pack(gzipSync(await bundle('main.js'), { level: 9 }))));
writeFileSync(response, fill('response.html', new TextDecoder().decode(await bundle('response.js'))));
