import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The path of an installed program: where `.ci/install` puts it, else on PATH. */
export function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const tools = env['COFFER_TOOLS'] ?? join(homedir(), '.cache/coffer-tools');
  return [join(tools, 'bin'), ...(env['PATH'] ?? '').split(delimiter)]
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path));
}

/** The version of the module that a Go program was built from: those built by `go install` know no other. */
export function goModuleVersion(program: string): string {
  try {
    const text = execFileSync('go', ['version', '-m', program], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return /^\tmod\t\S+\t(\S+)/m.exec(text)?.[1] ?? 'of an unknown version';
  } catch {
    return 'of an unknown version';
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
