import { cpus, release, totalmem } from 'node:os';
import { readFileSync, statfsSync } from 'node:fs';

/** TMPFS_MAGIC and RAMFS_MAGIC. @see statfs(2) */
const inMemory = new Set([0x01021994, 0x858458f6]);

/** Reports if a folder is in memory. Such a folder has no disk to flush to, so its figures would not be of durable writes. */
export function isInMemory(folder: string): boolean {
  return inMemory.has(statfsSync(folder).type);
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly fileSystem: string;
}

export function describeMachine(folder: string): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? 'unknown processor',
    cores: processors.length,
    memoryBytes: totalmem(),
    system: `${process.platform} ${release()}`,
    fileSystem: fileSystemOf(folder, readFileSync('/proc/mounts', 'utf8')),
  };
}

/** Returns the type of the file system that the folder is on. */
export function fileSystemOf(folder: string, mounts: string): string {
  let [type, length] = ['unknown', -1];
  for (const line of mounts.split('\n')) {
    const [, point, named] = line.split(' ');
    if (point === undefined || named === undefined || point.length < length) continue;
    if (point !== '/' && folder !== point && !folder.startsWith(`${point}/`)) continue;
    [type, length] = [named, point.length];
  }
  return type;
}
