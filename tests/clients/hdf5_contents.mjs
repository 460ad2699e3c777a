// SPDX-License-Identifier: Apache-2.0
// hdf5_contents.mjs MODULE FOLDER: what hdf5_contents.py does, by h5wasm, which brings an HDF5 of its own. It has no
// h5repack, and it cannot write the views of a sequence.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, folder] = process.argv.slice(2);
const { default: h5 } = await import(pathToFileURL(`${module}/dist/node/hdf5_hl.js`).href);
await h5.ready;
process.chdir(folder);

const bytes = (values) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
const digest = (values) => createHash("sha256").update(bytes(values)).digest("hex");

// get() follows the external link of a trajectory where it leads to something
function linked(group, name) {
  try {
    const { filename, obj_path } = group.get_external_link(name);
    return filename === undefined ? null : { type: "ExternalLink", filename, obj_path, attrs: {} };
  } catch {
    return null;
  }
}

// [path, item] of everything below a group
function* walk(group, prefix = "") {
  for (const name of group.keys()) {
    const path = prefix ? `${prefix}/${name}` : name, item = linked(group, `/${path}`) ?? group.get(name);
    yield [path, item];
    if (item.type === "Group") yield* walk(item, path);
  }
}

function contents(file) {
  const found = {};
  const attributes = (path, item) => {
    for (const name of Object.keys(item.attrs)) found[`${path}@${name}`] = item.attrs[name].value;
  };
  attributes("", file);
  for (const [path, item] of walk(file)) {
    if (item.type === "ExternalLink") continue;
    attributes(path, item);
    if (item.type === "Dataset") {
      const values = item.value, kind = values.constructor.name;
      found[path] = [kind, item.shape.map(Number), digest(values)];
    }
  }
  return found;
}

function rewrite(source, target, libver, packed) {
  const old = new h5.File(source, "r"), made = new h5.File(target, "w", { libver });
  const attributes = (from, to) => {
    for (const name of Object.keys(from.attrs)) {
      const { value, shape, dtype } = from.attrs[name];
      const text = typeof value === "string";
      to.create_attribute(name, value === "" ? "\0" : value, shape, text ? `S${Math.max(1, Buffer.byteLength(value))}` : dtype);
    }
  };
  attributes(old, made);
  for (const [path, item] of walk(old)) {
    if (item.type === "ExternalLink") {
      made.create_external_link(item.filename, item.obj_path, path);
    } else if (item.type === "Group") {
      attributes(item, made.create_group(path));
    } else {
      const shape = item.shape.map(Number), empty = shape.includes(0), more = {};
      if (empty) Object.assign(more, { maxshape: shape.map(() => null), chunks: shape.map(() => 1) });
      const chunks = shape.map((n) => (empty ? 1 : Math.ceil(n / 2)));
      if (packed && !empty) Object.assign(more, { chunks, compression: "gzip", compression_opts: 6 });
      made.create_dataset({ name: path, data: item.value, shape, dtype: item.dtype, ...more });
      attributes(item, made.get(path));
    }
  }
  made.close();
  old.close();
}

const files = {}, copies = [];
mkdirSync("copies", { recursive: true });
for (const name of readdirSync(".").filter((x) => /\.(h5|vtkhdf)$/.test(x)).sort()) {
  const file = new h5.File(name, "r");
  files[name] = contents(file);
  file.close();
  if (name.endsWith(".vtkhdf")) continue;
  for (const libver of ["earliest", "v108", "v110", "v200"])
    for (const packed of [false, true]) {
      const target = `copies/${name.slice(0, -3)}-${libver}-${packed ? "packed" : "plain"}.h5`;
      rewrite(name, target, libver === "earliest" ? ["earliest", "v108"] : [libver, libver], packed);
      copies.push([name, target]);
    }
}
const version = /libhdf5-wasm\/dist\/([0-9.]+)\//.exec((await h5.ready).get_plugin_search_paths().join(" "));
const plain = (_, x) => (typeof x === "bigint" ? Number(x) : ArrayBuffer.isView(x) ? Array.from(x, Number) : x);
console.log(JSON.stringify({ hdf5: version ? version[1] : "unknown", files, copies }, plain));
