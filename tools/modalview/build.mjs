// SPDX-License-Identifier: Apache-2.0
// node build.mjs OUT.html: the page with style and script in it; header and data are still marks,
// which modalview fills in. The script is compressed as the data are: a quarter of its size.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const bundle = await build({
  entryPoints: [join(here, 'main.js')], bundle: true, minify: true, write: false, format: 'iife',
  target: 'es2022', legalComments: 'inline', logLevel: 'warning',
});
const script = gzipSync(bundle.outputFiles[0].contents, { level: 9 }).toString('base64');
const style = readFileSync(join(here, 'page.css'), 'utf8');
const page = readFileSync(join(here, 'page.html'), 'utf8')
  .replace('@@STYLE@@', () => style)
  .replace('@@SCRIPT@@', () => script);
writeFileSync(process.argv[2], page);
