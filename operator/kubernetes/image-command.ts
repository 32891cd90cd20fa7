import type { Program } from '../workload.ts';

/**
 * The command that starts a program in the image of the `Containerfile`: it has no entry point and no shell, and every program is an
 * executable on its PATH. Bare names, so that an image derived from ours may keep them elsewhere.
 */
export function imageCommand(program: Program | 'coffer-operator'): readonly [string] {
  return [program];
}
