import { findProgram, goModuleVersion } from './find-program.ts';
import { readyPath, rootPassword, rootUser, type ServerProgram } from './server-program.ts';

/** Without `--keep-alive` it closes the connection after every answer, and without `--quiet` it prints a line for each. */
export const versitygw: ServerProgram = {
  name: 'versitygw',
  find: () => findProgram('versitygw'),
  version: goModuleVersion,
  command: ({ folder, port }) => ({
    args: ['--port', `127.0.0.1:${port}`, '--keep-alive', '--quiet', '--health', readyPath, 'posix', folder],
    env: { ROOT_ACCESS_KEY: rootUser, ROOT_SECRET_KEY: rootPassword },
  }),
  durability: 'it flushes nothing: an answered write is in the page cache and may be lost with the power',
};
