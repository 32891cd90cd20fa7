import { findProgram, goModuleVersion } from './find-program.ts';
import { rootPassword, rootUser, type ServerProgram } from './server-program.ts';

export const minio: ServerProgram = {
  name: 'minio',
  find: () => findProgram('minio'),
  version: goModuleVersion,
  command: ({ folder, port, secondPort }) => ({
    args: [
      'server',
      '--quiet',
      '--address',
      `127.0.0.1:${port}`,
      '--console-address',
      `127.0.0.1:${secondPort}`,
      folder,
    ],
    env: { MINIO_ROOT_USER: rootUser, MINIO_ROOT_PASSWORD: rootPassword, MINIO_BROWSER: 'off' },
  }),
  durability: 'its defaults: files are flushed, renames and folders are not (MINIO_FS_OSYNC is off)',
};
