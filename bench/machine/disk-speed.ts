import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The writes of a load: what the disk is asked to do without a server. */
export interface DiskWork {
  /** Bytes of the objects that were written. */
  readonly bytes: number;
  readonly flushes: number;
}

/** The writers of `fio`: as many as Coffer has threads that write. */
const JOBS = 2;
/** Bytes of the file of each writer. It is written whole before the measured time, so that no flush has to write its extents. */
const FILE_BYTES = 256 * 2 ** 20;
const PAGE = 4_096;
/** Larger writes are no faster on the disks that were tried. */
const MAX_WRITE = 2 ** 20;

/** The size of a write, and the number of writes to a flush, that give the bytes and flushes of the work. */
export function writesOf({ bytes, flushes }: DiskWork): { readonly size: number; readonly perFlush: number } {
  const between = Math.max(PAGE, bytes / Math.max(1, flushes));
  const perFlush = Math.ceil(between / MAX_WRITE);
  return { size: Math.max(PAGE, Math.round(between / perFlush / PAGE) * PAGE), perFlush };
}

export function fioArguments(work: DiskWork, folder: string, seconds: number): string[] {
  const { size, perFlush } = writesOf(work);
  return [
    '--name=disk',
    `--directory=${folder}`,
    '--rw=write',
    `--bs=${size}`,
    `--fdatasync=${perFlush}`,
    `--size=${FILE_BYTES}`,
    `--numjobs=${JOBS}`,
    '--overwrite=1',
    '--fallocate=none',
    '--time_based',
    `--runtime=${seconds}`,
    '--group_reporting',
    '--output-format=json',
  ];
}

/** Returns the bytes per second of the report of `fio`. */
export function bytesPerSecond(report: string): number {
  // Warnings may come before the document.
  const { jobs } = JSON.parse(report.slice(report.indexOf('{'))) as {
    readonly jobs: readonly { readonly error: number; readonly write: { readonly bw_bytes: number } }[];
  };
  const [job] = jobs;
  if (job === undefined || job.error !== 0) throw new Error(`fio failed with error ${job?.error ?? 'unknown'}`);
  return job.write.bw_bytes;
}

/** The writes and flushes of `fio` in a folder. One folder serves all rounds, so that its files are written once. */
export class DiskSpeed {
  readonly version: string;
  readonly #folder: string;

  private constructor(version: string, folder: string) {
    this.version = version;
    this.#folder = folder;
  }

  /** Resolves to undefined where `fio` is not installed. */
  static async open(folder: string): Promise<DiskSpeed | undefined> {
    const version = await run(['--version']).catch(() => undefined);
    return version === undefined ? undefined : new DiskSpeed(version.trim(), mkdtempSync(join(folder, 'disk-')));
  }

  /** Resolves to the bytes per second that the disk takes. */
  async measure(work: DiskWork, seconds: number): Promise<number> {
    return bytesPerSecond(await run(fioArguments(work, this.#folder, seconds)));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function run(args: readonly string[]): Promise<string> {
  const child = spawn('fio', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`fio ${args.join(' ')} exited with ${code}: ${errors.slice(0, 500)}`);
  return out;
}
