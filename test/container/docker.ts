import { existsSync } from 'node:fs';
import { runCommand, type CommandResult } from '../support/process/run-command.ts';

/** The image that `.ci/container/build` made. */
export const image = 'localhost/coffer:dev';

/** As the programs run in production, but for the network. */
export const restricted = [
  '--read-only',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
  '--tmpfs',
  '/tmp',
];

/** Debian's client, where another one lies before it on the PATH. */
const client = existsSync('/usr/bin/docker') ? '/usr/bin/docker' : 'docker';

export function docker(args: readonly string[]): Promise<CommandResult> {
  return runCommand(client, args, { env: { DOCKER_HOST: process.env['DOCKER_HOST'] ?? '' }, timeoutMs: 120_000 });
}

/** Runs one command in the image to its end. */
export function runInImage(command: readonly string[], options: readonly string[] = []): Promise<CommandResult> {
  return docker(['run', '--rm', ...restricted, ...options, image, ...command]);
}
