import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, dirname } from 'node:path';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

/** How a server is started, found and asked whether it is ready. What differs between servers is here and nowhere else. */
export interface ServerProgram {
  readonly name: ServerName;
  /** Undefined where it is not installed. */
  find(): string | undefined;
  /** What the report calls this version. */
  version(program: string): string;
  command(run: ServerRun): ServerCommand;
  /** What the report says of its promise when it answers a write. */
  readonly durability: string;
  /** The files of its records below its folder, where it has such. */
  readonly records?: string;
}

/** `coffer-encrypted` is Coffer again, beside itself without encryption. */
export type ServerName = 'coffer' | 'coffer-encrypted' | 'minio' | 'versitygw';

export const rootUser = 'bench-root';
export const rootPassword = 'bench-root-password';
export const readyPath = '/minio/health/ready';

export interface ServerRun {
  readonly program: string;
  readonly folder: string;
  readonly port: number;
  /** A second free port, for servers with another listener. */
  readonly secondPort: number;
}

interface ServerCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The path of an installed program: where `.ci/install` puts it, else on PATH. */
function findProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const tools = env['COFFER_TOOLS'] ?? join(homedir(), '.cache/coffer-tools');
  return [join(tools, 'bin'), ...(env['PATH'] ?? '').split(delimiter)]
    .map((folder) => join(folder, name))
    .find((path) => isExecutable(path));
}

/** The version of the module that a Go program was built from: those built by `go install` know no other. */
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

/** The Node that runs this, first: as in the container's image, where no launcher of an older one waits beside the server. */
const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);

/** As a user starts it from a checkout (this one, or another to compare with), with two threads and without encryption. */
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

/** A key of the environment: where data keys come from is no matter of speed, since one serves a thousand objects. */
const encrypting = {
  SVC_KMS_SECRET_KEY: `bench:${randomBytes(32).toString('base64')}`,
  SVC_KMS_AUTO_ENCRYPTION: 'on',
};

/** The same, but every object is encrypted with SSE-KMS. */
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

/** Without `--keep-alive` it closes the connection after every answer, and without `--quiet` it prints a line for each. */
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

/** Those that `--servers` names. */
export const serverNames: readonly ServerName[] = ['coffer', 'minio', 'versitygw'];

/** `checkout`: where Coffer is started from; this one without it. */
export function serverNamed(name: ServerName, checkout: string | undefined): ServerProgram {
  switch (name) {
    case 'coffer':
      return coffer(checkout);
    case 'coffer-encrypted':
      return encryptedCoffer(checkout);
    case 'minio':
      return minio;
    case 'versitygw':
      return versitygw;
  }
}
