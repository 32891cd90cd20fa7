import { readFileSync, rmSync } from 'node:fs';
import { createFileAtomically } from '../../platform/atomic-file.ts';
import { identifyProcess, isRunning, parseIdentity } from './process-identity.ts';
import type { StateFolder } from './state-folder.ts';

/** Another operator runs on this state folder. */
export class StateInUse extends Error {
  override readonly name = 'StateInUse';
  readonly code = 'StateInUse';
}

/**
 * Holds the state folder for this process; answers how to let go. One left behind by a process that died is taken over.
 * Errors with `StateInUse`.
 */
export async function lockState(state: StateFolder): Promise<() => void> {
  const path = state.at('operator.lock');
  const self = identifyProcess(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      await createFileAtomically(path, `${JSON.stringify(self)}\n`);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(path);
    if (holder !== undefined && isRunning(holder)) {
      throw new StateInUse(
        `${state.path} is in use by process ${holder.pid}: stop it, or name another folder with --state`,
      );
    }
    rmSync(path, { force: true });
  }
  throw new StateInUse(`${path} is taken again and again by other processes: see who starts them`);
}

function readHolder(path: string) {
  try {
    return parseIdentity(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
