import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rootPassword, rootUser, type ServerProgram } from './server-program.ts';

const thisCheckout = fileURLToPath(new URL('../..', import.meta.url));

function git(checkout: string, ...args: string[]): string {
  return execFileSync('git', ['-C', checkout, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** The Node that runs this, first: as in the container's image, where no launcher of an older one waits beside the server. */
const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);

/** As a user starts it from a checkout (this one, or another to compare with), with two threads and without encryption. */
export const coffer = (checkout = thisCheckout): ServerProgram => ({
  name: 'coffer',
  find: () => join(checkout, 'bin/coffer-server.js'),
  version() {
    try {
      const changed = git(checkout, 'status', '--porcelain', '--untracked-files=no').length > 0 ? ', changed' : '';
      return `${git(checkout, 'rev-parse', '--short', 'HEAD')}${changed} on Node ${process.versions.node}`;
    } catch {
      return `of an unknown commit on Node ${process.versions.node}`;
    }
  },
  command: ({ folder, port, secondPort }) => ({
    args: [folder, '--address', `127.0.0.1:${port}`, '--console-address', `127.0.0.1:${secondPort}`],
    env: {
      PATH: path,
      SVC_ROOT_USER: rootUser,
      SVC_ROOT_PASSWORD: rootPassword,
      SVC_THREADS: '2',
      SVC_LOG_LEVEL: 'warn',
    },
  }),
  durability: 'every answered write is flushed: LMDB with its meta page, files by fdatasync and their folder by fsync',
  records: 'records',
});

/** A key of the environment: where data keys come from is no matter of speed, since one serves a thousand objects. */
const encrypting = {
  SVC_KMS_SECRET_KEY: `bench:${randomBytes(32).toString('base64')}`,
  SVC_KMS_AUTO_ENCRYPTION: 'on',
};

/** The same, but every object is encrypted with SSE-KMS. */
export function encryptedCoffer(checkout?: string): ServerProgram {
  const plain = coffer(checkout);
  return {
    ...plain,
    name: 'coffer-encrypted',
    command(run) {
      const { args, env } = plain.command(run);
      return { args, env: { ...env, ...encrypting } };
    },
  };
}
