import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const tools = process.env['COFFER_TOOLS'] ?? join(homedir(), '.cache', 'coffer-tools');

/** The path of a real part that `.ci/install` put there. A tier whose part is missing fails: it is never skipped. */
export function tool(path: string, installName: string): string {
  const full = join(tools, path);
  if (!existsSync(full))
    throw new Error(`${full} is missing: run ".ci/install ${installName}", or the whole tier by ".ci/tier"`);
  return full;
}
