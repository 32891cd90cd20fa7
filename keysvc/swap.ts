import { readFile } from 'node:fs/promises';

/** What Linux tells of swap. Undefined where a file is not there. */
export interface SwapFiles {
  /** `/proc/swaps`: a line of titles, then one for each device. */
  readonly swaps: string | undefined;
  /** `memory.swap.max` of the control group: `max`, or bytes. */
  readonly limit: string | undefined;
}

/** Whether the kernel may write the memory of this process to a disk. Keys would outlive the process there. */
export function maySwap({ swaps, limit }: SwapFiles): boolean {
  const devices = (swaps ?? '').trim().split('\n').slice(1);
  return devices.length > 0 && limit?.trim() !== '0';
}

export async function readSwapFiles(): Promise<SwapFiles> {
  const [swaps, limit] = await Promise.all([readIfThere('/proc/swaps'), readIfThere('/sys/fs/cgroup/memory.swap.max')]);
  return { swaps, limit };
}

function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
