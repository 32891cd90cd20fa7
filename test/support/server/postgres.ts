import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../process/free-port.ts';
import { childrenOf, signalTree } from '../process/process-tree.ts';

export interface TestDatabase {
  /** `postgres://coffer@127.0.0.1:PORT/DATABASE`, without the password, as `PostgresOptions` wants it. */
  readonly url: string;
  readonly password: string;
}

/** A PostgreSQL of the test's own, durable as a real one (`fsync` on), listening on 127.0.0.1 alone. */
export interface TestPostgres extends TestDatabase {
  readonly port: number;
  /** A new empty database, owned by the role `coffer`. */
  createDatabase(): Promise<TestDatabase>;
  /** Rows of a statement run by the superuser, in the database `coffer` unless another's is named. */
  asSuperuser(sql: string, database?: string): Promise<readonly Record<string, unknown>[]>;
  /** Stops as an administrator does: sessions are ended (57P01), what is committed is flushed. */
  stop(): Promise<void>;
  /** Every process of the server is gone at once (kill -9), nothing is flushed or said to clients. */
  kill(): Promise<void>;
  /** After `stop` or `kill`, on the same port and data. */
  start(): Promise<void>;
  /** Every process stands still (SIGSTOP): connections stay open and answer nothing. */
  pause(): void;
  resume(): void;
  /** Copies this server and starts the copy, which follows it under the name. */
  startStandby(name: string): Promise<TestPostgres>;
  /** Makes a standby a primary. */
  promote(): Promise<void>;
  /** Ends the server and removes its folder. */
  remove(): Promise<void>;
}

interface TestPostgresOptions {
  /** Of `postgresql.conf`, beside the harness's own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The parent of its folder; that of temporary files when absent. */
  readonly parent?: string;
  /** Serves TLS too. */
  readonly certificate?: { readonly certPem: string; readonly keyPem: string };
}

export async function startPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const bin = postgresBinaries();
  const folder = await mkdtemp(join(options.parent ?? tmpdir(), 'coffer-postgres-'));
  const data = join(folder, 'data');
  const superuserPassword = randomBytes(16).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, superuserPassword, { mode: 0o600 });
  if (isRoot) {
    const { uid, gid } = serverUser();
    await chmod(folder, 0o700);
    await chown(folder, uid, gid);
    await chown(passwordFile, uid, gid);
  }
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8'];
  // Only the empty template goes unflushed, which a test can always make again.
  const [program, args] = asServerUser(join(bin, 'initdb'), [...initdb, '--locale=C.UTF-8', '--no-sync']);
  execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const port = await freePort();
  const tls = options.certificate && (await tlsSettings(folder, options.certificate));
  const server = new Server(bin, folder, data, port, superuserPassword, { ...options.settings, ...tls });
  await server.start();
  await server.asSuperuser(`create role coffer login password '${server.password}'`, 'postgres');
  await server.asSuperuser('create database coffer owner coffer', 'postgres');
  return server;
}

async function tlsSettings(
  folder: string,
  { certPem, keyPem }: { readonly certPem: string; readonly keyPem: string },
): Promise<Record<string, string>> {
  const files = { ssl_cert_file: join(folder, 'server.crt'), ssl_key_file: join(folder, 'server.key') };
  await writeFile(files.ssl_cert_file, certPem);
  await writeFile(files.ssl_key_file, keyPem, { mode: 0o600 });
  if (isRoot) {
    const { uid, gid } = serverUser();
    await chown(files.ssl_key_file, uid, gid);
  }
  return { ssl: 'on', ...files };
}

class Server implements TestPostgres {
  readonly port: number;
  readonly password: string;
  readonly #bin: string;
  readonly #folder: string;
  readonly #data: string;
  readonly #superuserPassword: string;
  readonly #settings: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #databases = 0;

  constructor(
    bin: string,
    folder: string,
    data: string,
    port: number,
    superuserPassword: string,
    settings: Readonly<Record<string, string>>,
    password = randomBytes(16).toString('hex'),
  ) {
    this.port = port;
    this.password = password;
    this.#bin = bin;
    this.#folder = folder;
    this.#data = data;
    this.#superuserPassword = superuserPassword;
    this.#settings = settings;
  }

  get url(): string {
    return `postgres://coffer@127.0.0.1:${this.port}/coffer`;
  }

  async createDatabase(): Promise<TestDatabase> {
    this.#databases += 1;
    const name = `coffer_${this.#databases}`;
    await this.asSuperuser(`create database ${name} owner coffer`, 'postgres');
    return { url: `postgres://coffer@127.0.0.1:${this.port}/${name}`, password: this.password };
  }

  async asSuperuser(sql: string, database = 'coffer'): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({
      host: '127.0.0.1',
      port: this.port,
      user: 'postgres',
      password: this.#superuserPassword,
      database,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.port),
      unix_socket_directories: this.#folder,
      max_connections: '200',
      shared_buffers: '128MB',
      ...this.#settings,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [program, args] = asServerUser(join(this.#bin, 'postgres'), ['-D', this.#data, ...flags]);
    const child = spawn(program, args, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = child;
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
    });
    const deadline = Date.now() + 60_000;
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`PostgreSQL ended:\n${log}`);
      try {
        await this.asSuperuser('select 1', 'postgres');
        return;
      } catch (error) {
        if (Date.now() > deadline) throw new Error(`PostgreSQL does not answer:\n${log}`, { cause: error });
      }
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    // SIGINT is PostgreSQL's fast shutdown.
    await this.#end(() => this.#process?.kill('SIGINT'));
  }

  async kill(): Promise<void> {
    await this.#end(() => signalTree(this.#process?.pid, 'SIGKILL'));
  }

  pause(): void {
    signalTree(this.#process?.pid, 'SIGSTOP');
  }

  resume(): void {
    signalTree(this.#process?.pid, 'SIGCONT');
  }

  async startStandby(name: string): Promise<TestPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'coffer-standby-'));
    if (isRoot) {
      const { uid, gid } = serverUser();
      await chmod(folder, 0o700);
      await chown(folder, uid, gid);
    }
    const data = join(folder, 'data');
    const from = `host=127.0.0.1 port=${this.port} user=postgres application_name=${name}`;
    const copy = ['-d', from, '-D', data, '--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
    const [program, args] = asServerUser(join(this.#bin, 'pg_basebackup'), copy);
    const env = { ...process.env, PGPASSWORD: this.#superuserPassword };
    execFileSync(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
    const port = await freePort();
    const standby = new Server(this.#bin, folder, data, port, this.#superuserPassword, this.#settings, this.password);
    await standby.start();
    return standby;
  }

  async promote(): Promise<void> {
    await this.asSuperuser('select pg_promote()', 'postgres');
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: () => void): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined) return;
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    const children = childrenOf(child.pid);
    signal();
    await ended;
    // The data folder is free when the last backend is gone, not when the first process is.
    while (children.some((pid) => existsSync(`/proc/${pid}`))) await sleep(5);
    this.#process = undefined;
  }
}

const isRoot = process.getuid?.() === 0;

/** PostgreSQL refuses to run as root, and must not outlive a test that was ended by force. */
export function asServerUser(program: string, args: readonly string[]): [string, string[]] {
  if (process.platform !== 'linux') return [program, [...args]];
  const asPostgres = isRoot ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  return ['setpriv', [...asPostgres, '--pdeathsig', 'KILL', program, ...args]];
}

/** Gives files to the user of the server. */
export async function giveToServerUser(...paths: readonly string[]): Promise<void> {
  if (!isRoot) return;
  const { uid, gid } = serverUser();
  for (const path of paths) await chown(path, uid, gid);
}

function serverUser(): { uid: number; gid: number } {
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}

/** The newest PostgreSQL of Debian's. A test whose real part is missing fails: it is never skipped. */
export function postgresBinaries(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Number.isInteger) : [];
  if (versions.length === 0) throw new Error(`${root} is missing: run ".ci/install postgres"`);
  return join(root, String(Math.max(...versions)), 'bin');
}
