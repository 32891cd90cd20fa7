import { readdir, readFile } from 'node:fs/promises';

/** What this process, all its threads together, uses. What the system does not tell is left out. */
export interface ProcessFacts {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly openFiles?: number;
  readonly mostOpenFiles?: number;
  readonly io?: ProcessIo;
}

/** Of `/proc/self/io`: `rchar` and `wchar` through the page cache, the others beneath it. Bytes. */
export interface ProcessIo {
  readonly rchar: number;
  readonly wchar: number;
  readonly readBytes: number;
  readonly writeBytes: number;
}

/** @see https://man7.org/linux/man-pages/man5/proc.5.html */
export async function processFacts(): Promise<ProcessFacts> {
  const [files, limits, io] = await Promise.all([
    tried(readdir('/proc/self/fd')),
    tried(readFile('/proc/self/limits', 'utf8')),
    tried(readFile('/proc/self/io', 'utf8')),
  ]);
  const { user, system } = process.cpuUsage();
  const mostOpenFiles = limits === undefined ? undefined : openFileLimit(limits);
  const parsedIo = io === undefined ? undefined : processIo(io);
  return {
    cpuSeconds: (user + system) / 1_000_000,
    residentBytes: process.memoryUsage.rss(),
    // One is of reading the folder itself.
    ...(files === undefined ? {} : { openFiles: files.length - 1 }),
    ...(mostOpenFiles === undefined ? {} : { mostOpenFiles }),
    ...(parsedIo === undefined ? {} : { io: parsedIo }),
  };
}

/** The soft limit; undefined where there is none. */
export function openFileLimit(limits: string): number | undefined {
  const found = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return found === undefined ? undefined : Number(found);
}

export function processIo(text: string): ProcessIo | undefined {
  const numbers = ['rchar', 'wchar', 'read_bytes', 'write_bytes'].map((name) =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN),
  );
  const [rchar = 0, wchar = 0, readBytes = 0, writeBytes = 0] = numbers;
  return numbers.some(Number.isNaN) ? undefined : { rchar, wchar, readBytes, writeBytes };
}

async function tried<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    return undefined;
  }
}
