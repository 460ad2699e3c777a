// SPDX-License-Identifier: Apache-2.0
// node build.mjs OUT.html: the page with style and script in it; header and data are still marks,
// which modalview fills in. The script is compressed as the data are: a quarter of its size.
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
const bundle = await build({
  entryPoints: [join(here, 'main.js')], bundle: true, minify: true, write: false, format: 'iife',
  target: 'es2022', legalComments: 'inline', logLevel: 'warning',
});
const script = pack(gzipSync(bundle.outputFiles[0].contents, { level: 9 }));
const style = readFileSync(join(here, 'page.css'), 'utf8');
const page = readFileSync(join(here, 'page.html'), 'utf8')
  .replace('@@STYLE@@', () => style)
  .replace('@@SCRIPT@@', () => script);
writeFileSync(process.argv[2], page);
