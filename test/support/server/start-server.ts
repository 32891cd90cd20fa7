import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programArguments, storeEnvironment, serverThreads, withoutConsole } from '../process/program.ts';
import { noteCrossingOf } from '../store/crossings.ts';

export interface StartOptions {
  /**
   * Besides root credentials `root` / `root-password`, a `PATH` and the number of HTTP threads; nothing else of this process' environment
   * is passed on. A test of what several threads do names `SVC_THREADS`.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** A test that calls the console says so: in `npm test` other servers have none. */
  readonly console?: boolean;
  /** Data folder; a temporary one, removed by `stop`, when absent. */
  readonly folder?: string;
  /** Told of the process at once, long before it listens. */
  readonly onSpawned?: (child: ChildProcess) => void;
}

export interface RunningServer {
  /** `http://127.0.0.1:PORT` of the S3 API, STS and the admin API. */
  readonly s3: string;
  /** Empty without a console. */
  readonly console: string;
  readonly folder: string;
  readonly pid: number;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Every line the server wrote so far, both streams. */
  readonly log: readonly string[];
  /** Resolves with the first line, past or future, that contains the text. */
  untilLogged(text: string): Promise<string>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL; the folder stays. */
  kill(): Promise<void>;
  /** The exit code, or the signal that ended it; nothing while it runs. */
  ended(): number | NodeJS.Signals | undefined;
}

/** The address of a server, and its root credentials. */
export type ServerAccess = Pick<RunningServer, 's3' | 'accessKey' | 'secretKey'>;

const program = programArguments(new URL('../../../server/main.ts', import.meta.url));

/** Starts a real coffer-server process on free ports of 127.0.0.1 and waits until it listens (which may be before it is ready). */
export async function startServer(options: StartOptions = {}): Promise<RunningServer> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'coffer-test-')));
  const env = {
    PATH: process.env['PATH'] ?? '',
    SVC_ROOT_USER: 'root',
    SVC_ROOT_PASSWORD: 'root-password',
    ...storeEnvironment,
    ...(serverThreads === undefined ? {} : { SVC_THREADS: serverThreads }),
    ...(options.console === true ? {} : withoutConsole),
    SVC_CONFIG_ENV_FILE: '/dev/null',
    ...options.env,
  };
  const ports = ['--address', '127.0.0.1:0', '--console-address', '127.0.0.1:0'];
  const child = spawn(process.execPath, [...program, folder, ...ports, ...(options.args ?? [])], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  options.onSpawned?.(child);
  const log: string[] = [];
  const waiting = new Set<{ readonly text: string; readonly found: (line: string) => void }>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      log.push(line);
      noteCrossingOf(line);
      for (const wait of waiting) if (line.includes(wait.text)) wait.found(line);
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.on('exit', (code) => resolve(code));
  });

  function untilLogged(text: string): Promise<string> {
    const past = log.find((line) => line.includes(text));
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve, reject) => {
      const wait = {
        text,
        found: (line: string) => {
          waiting.delete(wait);
          resolve(line);
        },
      };
      waiting.add(wait);
      void (async () => {
        const code = await exited;
        reject(new Error(`coffer-server exited with ${code} before it said "${text}":\n${log.join('\n')}`));
      })();
    });
  }

  const listening = JSON.parse(await untilLogged('"event":"listening"')) as { s3: string; console?: string };
  return {
    s3: listening.s3,
    console: listening.console ?? '',
    folder,
    pid: child.pid ?? 0,
    accessKey: env.SVC_ROOT_USER,
    secretKey: env.SVC_ROOT_PASSWORD,
    log,
    untilLogged,
    async stop() {
      child.kill('SIGTERM');
      const code = await exited;
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
      return code;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    ended: () => child.exitCode ?? child.signalCode ?? undefined,
  };
}

/** Returns the status of `/minio/health/ready`, and after it what the server waits for: `503 blobs`. */
export async function readinessOf({ s3 }: Pick<RunningServer, 's3'>): Promise<string> {
  const answer = await fetch(`${s3}/minio/health/ready`);
  // A connection whose answer nobody reads would hold up the end of the server.
  await answer.arrayBuffer();
  return `${answer.status} ${answer.headers.get('x-coffer-waiting-for') ?? ''}`.trim();
}

/** Resolves once `/minio/health/ready` answers 200. */
export async function untilReady(server: RunningServer, timeoutMs = 180_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    let issue: string;
    try {
      const readiness = await readinessOf(server);
      if (readiness.startsWith('200')) return;
      issue = `status ${readiness}`;
    } catch (error) {
      issue = String((error as Error).cause ?? error);
    }
    const ended = server.ended();
    if (ended !== undefined || Date.now() > end) {
      const state = ended === undefined ? `not ready after ${timeoutMs} ms` : `ended with ${ended}`;
      throw new Error(`${state} (${issue}):\n${server.log.join('\n')}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 25);
    });
  }
}
