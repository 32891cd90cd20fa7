import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { statfs, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Kind = 'tmpfs' | 'ext4';

export interface SmallFileSystem {
  readonly path: string;
  freeBytes(): Promise<number>;
  unmount(): Promise<void>;
}

/** Mounts a file system of so many MiB in the folder; an ext4 one in a file. Needs root, or `unshare -rm` for tmpfs. */
export async function mountSmall(kind: Kind, folder: string, mebibytes: number): Promise<SmallFileSystem> {
  const path = join(folder, 'small');
  mkdirSync(path);
  if (kind === 'tmpfs') run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0700`, 'tmpfs', path]);
  else {
    const image = join(folder, 'image');
    await writeFile(image, '');
    await truncate(image, mebibytes * 1024 * 1024);
    // No blocks kept for root, who runs the server here.
    run('mkfs.ext4', ['-q', '-m', '0', image]);
    run('mount', ['-o', 'loop', image, path]);
  }
  return {
    path,
    async freeBytes() {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    },
    unmount: () => unmount(path),
  };
}

/** What a test that failed left open keeps it busy: then it goes when the last of that is closed, and hides no failure. */
async function unmount(path: string): Promise<void> {
  for (let attempt = 1; attempt <= 20; attempt += 1) {
    try {
      return run('umount', [path]);
    } catch {
      await sleep(250);
    }
  }
  run('umount', ['--lazy', path]);
}

function run(program: string, args: readonly string[]): void {
  try {
    execFileSync(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    });
  } catch (error) {
    throw new Error(
      `${program} ${args.join(' ')} failed: these tests mount small file systems, so run them as root (or tmpfs alone under "unshare -rm")`,
      { cause: error },
    );
  }
}
