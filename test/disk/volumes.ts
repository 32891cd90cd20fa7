import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type VolumeKind = 'tmpfs' | 'ext4' | 'btrfs';

interface VolumeOptions {
  /** The count of files that the file system takes. */
  readonly inodes?: number;
  /** Bytes that all files together may take: a quota, of btrfs alone. */
  readonly quota?: number;
}

/** A file system that is mounted at a path, goes away under the programs that use it, and comes back with all that was in it. */
export interface Volume {
  readonly path: string;
  /** Takes the path away while files of the volume are open, as a storage network or an administrator does. */
  detach(): void;
  /** Mounts the same volume at its path again. */
  attach(): void;
  /** Lets its files take all of it from now on. */
  liftQuota(): void;
  /** Mounts an empty volume of another owner at the path, until `detach`. */
  attachOther(): void;
  remove(): Promise<void>;
}

/** Returns why this machine mounts no such file system; undefined if it does. Containers often have no right to. */
export async function volumeIssue(kind: VolumeKind, options: VolumeOptions = {}): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-volume-'));
  try {
    const volume = await makeVolume(kind, folder, options);
    await volume.remove();
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return `no ${kind} can be mounted here: ${message.replace(/\s+/g, ' ').slice(0, 200)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const MEBIBYTES = 160;

/** Makes a volume, and mounts it at `mounted` in a folder. A block device stays the same, so that it may be mounted again while it is in use. */
export async function makeVolume(kind: VolumeKind, folder: string, options: VolumeOptions = {}): Promise<Volume> {
  const [path, held] = [join(folder, 'mounted'), join(folder, 'held')];
  mkdirSync(path);
  mkdirSync(held);
  const undo: (() => void)[] = [];
  const remove = async () => {
    for (const step of undo.splice(0).toReversed()) await attempted(step);
  };
  try {
    if (kind === 'tmpfs') {
      const inodes = options.inodes === undefined ? '' : `,nr_inodes=${options.inodes}`;
      run('mount', ['-t', 'tmpfs', '-o', `size=${MEBIBYTES}m,mode=0700${inodes}`, 'tmpfs', held]);
    } else {
      const image = join(folder, 'image');
      await writeFile(image, '');
      await truncate(image, MEBIBYTES * 1024 * 1024);
      if (kind === 'btrfs') run('mkfs.btrfs', ['-q', image]);
      // No blocks kept for root, who runs the server here.
      else
        run('mkfs.ext4', [
          '-q',
          '-m',
          '0',
          ...(options.inodes === undefined ? [] : ['-N', String(options.inodes)]),
          image,
        ]);
      const device = run('losetup', ['--find', '--show', image]).trim();
      undo.push(() => run('losetup', ['--detach', device]));
      run('mount', [device, held]);
    }
    undo.push(() => run('umount', [held]));
    let source = held;
    if (options.quota !== undefined) {
      source = join(held, 'volume');
      run('btrfs', ['quota', 'enable', held]);
      run('btrfs', ['subvolume', 'create', source]);
      run('btrfs', ['qgroup', 'limit', String(options.quota), source]);
    }
    const attach = () => run('mount', ['--bind', source, path]);
    const detach = () => run('umount', ['--lazy', path]);
    attach();
    let isAttached = true;
    undo.push(() => isAttached && detach());
    return {
      path,
      attach() {
        attach();
        isAttached = true;
      },
      detach() {
        detach();
        isAttached = false;
      },
      attachOther() {
        run('mount', ['-t', 'tmpfs', '-o', 'size=32m,mode=0700', 'tmpfs', path]);
        isAttached = true;
      },
      liftQuota: () => void run('btrfs', ['qgroup', 'limit', 'none', source]),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A process that has just ended may keep a volume busy for a moment. */
async function attempted(step: () => void): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return step();
    } catch (error) {
      if (attempt === 40) throw error;
      await sleep(250);
    }
  }
}

function run(program: string, args: readonly string[]): string {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  return execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, encoding: 'utf8' });
}
