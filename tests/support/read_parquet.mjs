// Reads columns of a Parquet file with each reader that is installed where TRACEDB_NODE_MODULES says, and prints what they
// read as JSON: {"hyparquet": [[column values ...], ...], "parquet-wasm": ...}. Usage: node read_parquet.mjs FILE COLUMN...
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const modules = createRequire(pathToFileURL(process.env.TRACEDB_NODE_MODULES + '/none.js'));
const [file, ...columns] = process.argv.slice(2);
const plain = (value) => (typeof value === 'bigint' ? value.toString() : value ?? null);

async function hyparquet() {
  const { parquetReadObjects } = await import(pathToFileURL(modules.resolve('hyparquet')));
  const { compressors } = await import(pathToFileURL(modules.resolve('hyparquet-compressors')));
  const bytes = readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const rows = await parquetReadObjects({ file: buffer, columns, compressors });
  return rows.map((row) => columns.map((column) => plain(row[column])));
}

async function arrow() {
  const parquet = modules('parquet-wasm/node');
  const { tableFromIPC } = modules('apache-arrow');
  const table = tableFromIPC(parquet.readParquet(new Uint8Array(readFileSync(file))).intoIPCStream());
  const values = columns.map((column) => table.getChild(column));
  return Array.from({ length: table.numRows }, (_, row) => values.map((column) => plain(column.get(row))));
}

const found = {};
for (const [name, read] of [['hyparquet', hyparquet], ['parquet-wasm', arrow]]) {
  try {
    modules.resolve(name === 'hyparquet' ? name : 'parquet-wasm/node');
  } catch {
    continue;  // not installed
  }
  found[name] = await read();
}
console.log(JSON.stringify(found));
