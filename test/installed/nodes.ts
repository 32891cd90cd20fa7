import { tool } from '../support/process/run-command.ts';

/** The versions of Node that the package is for: the oldest one, the one of most machines, and the project's own. */
export const versions = [20, 22, 26] as const;

/** Returns the path of a Node. */
export function nodeOf(version: (typeof versions)[number]): string {
  if (version === 26) return process.execPath;
  return tool(`node-${version}/node_modules/node-linux-${process.arch}/bin/node`, `node-${version}`);
}
