import { existsSync, rmSync } from 'node:fs';
import type { WorkloadCheck, Workload } from '../../contract/workload.ts';
import type { Symbols } from './addresses.ts';
import { ChildLog, RunningChild } from './child-process.ts';
import { commandOf, writeMount, type LocalWorkloadOptions } from './local-workload.ts';

/** Milliseconds: a keystore may be slow. */
const timeoutMs = 60_000;

/**
 * Runs the program of a workload once with the arguments of its check, beside the instance, with files of its own. Answers why it failed,
 * or undefined when it has passed.
 */
export async function runCheck(
  workload: Workload,
  check: WorkloadCheck,
  options: Pick<LocalWorkloadOptions, 'symbols' | 'programs' | 'state'>,
): Promise<string | undefined> {
  const { state, programs, symbols } = options;
  for (const mount of workload.mounts) {
    if (mount.kind !== 'volume') continue;
    const path = mount.path ?? state.at('data', workload.name, mount.name);
    if (existsSync(path)) continue;
    return check.needsContent ? `the folder ${path} does not exist, and a new one has none of the keys` : undefined;
  }
  const folder = state.folder('checks', workload.name);
  const own: Symbols = {
    ...symbols,
    mountPath: (_, name) => {
      const mount = workload.mounts.find((candidate) => candidate.name === name);
      if (mount?.kind !== 'volume') return state.at('checks', workload.name, name);
      return mount.path ?? state.at('data', workload.name, name);
    },
  };
  const log = new ChildLog(state.at('checks', `${workload.name}.log`), () => undefined, false);
  try {
    for (const mount of workload.mounts) await writeMount(workload, mount, 'all', own);
    const command = commandOf({ ...workload, arguments: check.arguments }, { symbols: own, programs });
    const child = new RunningChild(command, log, state.at('checks', `${workload.name}.process`));
    const timer = setTimeout(() => void child.stop(), timeoutMs);
    const { code } = await child.exited;
    clearTimeout(timer);
    return code === 0 ? undefined : log.lastWords().replace(/^Error: /, '');
  } finally {
    log.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
