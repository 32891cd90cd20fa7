import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, dirname } from 'node:path';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

/** A server program: how to find it, start it and test its readiness. All differences between the servers are here. */
export interface ServerProgram {
  readonly name: ServerName;
  /** Returns the path of the program; undefined if it is not installed. */
  find(): string | undefined;
  /** Returns the version for the report. */
  version(program: string): string;
  command(run: ServerRun): ServerCommand;
  /** The durability of an answered write, for the report. */
  readonly durability: string;
  /** The folder of its records below its data folder, if it has one. */
  readonly records?: string;
}

/** The server's name. `coffer-encrypted` is Coffer with encryption, `coffer-before` the Coffer of an earlier checkout. */
export type ServerName = 'coffer' | 'coffer-encrypted' | 'coffer-before' | 'minio' | 'versitygw';

export const rootUser = 'bench-root';
export const rootPassword = 'bench-root-password';
export const readyPath = '/minio/health/ready';

export interface ServerRun {
  readonly program: string;
  readonly folder: string;
  readonly port: number;
  /** A second free port, for servers with two listeners. */
  readonly secondPort: number;
}

interface ServerCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Finds an installed program: in the folder of `.ci/install`, then on PATH. */
function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const tools = env['COFFER_TOOLS'] ?? join(homedir(), '.cache/coffer-tools');
  return [join(tools, 'bin'), ...(env['PATH'] ?? '').split(delimiter)]
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path));
}

/** Returns the module version of a Go program. Programs of `go install` have no other version. */
function goModuleVersion(program: string): string {
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

const thisCheckout = fileURLToPath(new URL('../..', import.meta.url));

function git(checkout: string, ...args: string[]): string {
  return execFileSync('git', ['-C', checkout, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** This Node comes first on PATH, as in the container's image, so that no launcher of an older Node runs next to the server. */
const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);

/** Coffer as users start it from a checkout (this one, or another to compare), with two threads and without encryption. */
const coffer = (checkout = thisCheckout): ServerProgram => ({
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

/** The key comes from the environment. The source of data keys does not affect the speed, since one key serves a thousand objects. */
const encrypting = {
  SVC_KMS_SECRET_KEY: `bench:${randomBytes(32).toString('base64')}`,
  SVC_KMS_AUTO_ENCRYPTION: 'on',
};

/** Coffer with SSE-KMS for each object. */
function encryptedCoffer(checkout?: string): ServerProgram {
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

const minio: ServerProgram = {
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

/** Without `--keep-alive` versitygw closes the connection after each answer. Without `--quiet` it prints a line for each request. */
const versitygw: ServerProgram = {
  name: 'versitygw',
  find: () => findProgram('versitygw'),
  version: goModuleVersion,
  command: ({ folder, port }) => ({
    args: ['--port', `127.0.0.1:${port}`, '--keep-alive', '--quiet', '--health', readyPath, 'posix', folder],
    env: { ROOT_ACCESS_KEY: rootUser, ROOT_SECRET_KEY: rootPassword },
  }),
  durability: 'it flushes nothing: an answered write is in the page cache and may be lost with the power',
};

/** The names that `--servers` accepts. */
export const serverNames: readonly ServerName[] = ['coffer', 'minio', 'versitygw'];

/** The folders that Coffer is started from; by default this checkout. */
export interface Checkouts {
  readonly coffer?: string | undefined;
  readonly before?: string | undefined;
}

/** Returns the program of a server. */
export function serverNamed(name: ServerName, checkouts: Checkouts): ServerProgram {
  switch (name) {
    case 'coffer':
      return coffer(checkouts.coffer);
    case 'coffer-encrypted':
      return encryptedCoffer(checkouts.coffer);
    case 'coffer-before':
      return { ...coffer(checkouts.before), name };
    case 'minio':
      return minio;
    case 'versitygw':
      return versitygw;
  }
}
