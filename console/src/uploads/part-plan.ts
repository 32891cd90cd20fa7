/** Bytes. A smaller file is sent in one request. */
export const multipartFrom = 16 * 1024 * 1024;

const smallestPart = 8 * 1024 * 1024;
const mib = 1024 * 1024;

/** S3 has at most 10,000 parts; fewer leave room for a file that seems to grow. */
const maxParts = 9_000;

/** Bytes of each part but the last one. */
export function partSizeOf(size: number): number {
  return Math.max(smallestPart, Math.ceil(size / maxParts / mib) * mib);
}

export interface Part {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

/** The parts that are not at the server yet. */
export function missingParts(size: number, partSize: number, done: ReadonlySet<number>): readonly Part[] {
  const parts: Part[] = [];
  for (let number = 1, start = 0; start < size; number += 1, start += partSize) {
    if (!done.has(number)) parts.push({ number, start, end: Math.min(start + partSize, size) });
  }
  return parts;
}

/** Identifies a file after a reload of the page, without reading it. */
export interface Fingerprint {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
}

export function isSameFile(a: Fingerprint, b: Fingerprint): boolean {
  return a.name === b.name && a.size === b.size && a.lastModified === b.lastModified;
}

/** Returns a key that is free for a file whose own key is taken: `a.txt` becomes `a (1).txt`. */
export function renamedKey(key: string, count: number): string {
  const dot = key.lastIndexOf('.');
  const hasExtension = dot > key.lastIndexOf('/') + 1;
  return hasExtension ? `${key.slice(0, dot)} (${count})${key.slice(dot)}` : `${key} (${count})`;
}
