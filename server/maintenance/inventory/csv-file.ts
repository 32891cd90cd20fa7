import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ListedVersion } from '../../objects/contract/listings.ts';
import type { InventoryColumn, InventoryValue } from './inventory-columns.ts';
import type { ReportFile } from './report-file.ts';

/** A gzipped CSV file without a line of names: each value in quotes, keys encoded as in URLs. */
export class CsvFile implements ReportFile {
  bytes = 0;
  readonly #columns: readonly InventoryColumn[];
  readonly #gzip = createGzip();
  readonly #chunks: Buffer[] = [];

  constructor(columns: readonly InventoryColumn[]) {
    this.#columns = columns;
    this.#gzip.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.bytes += chunk.length;
    });
  }

  async add(versions: readonly ListedVersion[]): Promise<void> {
    const lines = versions.map((version) => `${this.#columns.map((one) => cell(one, version)).join(',')}\n`);
    if (!this.#gzip.write(lines.join(''))) await once(this.#gzip, 'drain');
  }

  async finish(): Promise<Buffer> {
    this.#gzip.end();
    await finished(this.#gzip);
    return Buffer.concat(this.#chunks);
  }
}

function cell({ name, read }: InventoryColumn, version: ListedVersion): string {
  const text = textOf(read(version));
  return `"${name === 'Key' ? encodeKey(text) : text.replaceAll('"', '""')}"`;
}

function textOf(value: InventoryValue): string {
  if (value === undefined) return '';
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Slashes stay, as in AWS. */
function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%2F', '/');
}
