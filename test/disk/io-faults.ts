import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** As in `io-faults.c`. */
export const ops = {
  write: 1,
  'flushed write': 2,
  flush: 4,
  rename: 8,
  read: 16,
  create: 32,
  open: 64,
  unlink: 128,
  mkdir: 256,
  truncate: 512,
  statfs: 1024,
  link: 2048,
  mmap: 4096,
  lock: 8192,
  copy: 16384,
  socket: 32768,
  accept: 65536,
  allocate: 131072,
} as const;
export const places = { records: 1, blobs: 2, both: 3, rest: 4, all: 7, network: 8 } as const;
/** `part` lets a write take a part of its bytes; `slow` lets a call take 1.5 s, and succeed. */
export const errors = {
  slow: -1500,
  EPERM: 1,
  ENOENT: 2,
  EINTR: 4,
  EIO: 5,
  EAGAIN: 11,
  ENOMEM: 12,
  EACCES: 13,
  EBUSY: 16,
  ENODEV: 19,
  EINVAL: 22,
  ENFILE: 23,
  EMFILE: 24,
  EFBIG: 27,
  ENOSPC: 28,
  EROFS: 30,
  EMLINK: 31,
  ENOLCK: 37,
  ENOTSUP: 95,
  ENOBUFS: 105,
  ECONNABORTED: 103,
  ENOTCONN: 107,
  ESTALE: 116,
  EDQUOT: 122,
  part: 0,
} as const;

export interface Fault {
  readonly ops: readonly (keyof typeof ops)[];
  readonly in: keyof typeof places;
  readonly error: keyof typeof errors;
  /** One of this many calls fails. */
  readonly every: number;
  /** So many calls fail; without it, until `end`. */
  readonly times?: number;
}

/** Input and output of one server that fails when a test says so. */
export class IoFaults {
  readonly env: Readonly<Record<string, string>>;
  readonly #control: number;

  constructor(options: { readonly folder: string; readonly dataFolder: string; readonly library: string }) {
    const file = join(options.folder, 'faults');
    writeFileSync(file, Buffer.alloc(28));
    this.#control = openSync(file, 'r+');
    this.env = {
      LD_PRELOAD: options.library,
      FAULTS_BASE: options.dataFolder,
      FAULTS_CONTROL: file,
      // It would pass the shim by.
      UV_USE_IO_URING: '0',
    };
  }

  begin(fault: Fault): void {
    const sum = fault.ops.reduce((all, op) => all + ops[op], 0);
    // The kinds last: the others are there when the first call looks.
    this.#put(1, [places[fault.in], fault.every, fault.times ?? -1, errors[fault.error], 0, 0]);
    this.#put(0, [sum]);
  }

  end(): void {
    this.#put(0, [0]);
  }

  /** How many calls failed since it began. */
  get hits(): number {
    const bytes = Buffer.alloc(4);
    readSync(this.#control, bytes, 0, 4, 6 * 4);
    return bytes.readInt32LE();
  }

  close(): void {
    closeSync(this.#control);
  }

  #put(index: number, values: readonly number[]): void {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [at, value] of values.entries()) bytes.writeInt32LE(value, 4 * at);
    writeSync(this.#control, bytes, 0, bytes.length, 4 * index);
  }
}

export function compileIoFaults(folder: string): string {
  const library = join(folder, 'io-faults.so');
  const source = fileURLToPath(new URL('io-faults.c', import.meta.url));
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-Wall', '-o', library, source, '-ldl'], { stdio: 'inherit' });
  return library;
}
