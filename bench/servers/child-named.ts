import { readFileSync } from 'node:fs';
import { childrenOf } from '../../test/support/process/process-tree.ts';
import { ProcessTree } from './running-server.ts';

/** Returns a process of this one's children, by its command. */
export function childNamed(name: string): ProcessTree | undefined {
  const pid = childrenOf(process.pid).find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(name));
  return pid === undefined ? undefined : new ProcessTree(pid);
}
