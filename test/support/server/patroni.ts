import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../process/free-port.ts';
import { childrenOf, signalTree } from '../process/process-tree.ts';
import { asServerUser, giveToServerUser, postgresBinaries } from './postgres.ts';

/** A machine with a PostgreSQL and the Patroni that decides its role. */
export interface PatroniNode {
  readonly name: string;
  /** The port of PostgreSQL. */
  readonly port: number;
  /** Every process of the machine is gone at once. */
  kill(): Promise<void>;
  /** Every process stands still: connections stay open and answer nothing. */
  pause(): void;
  resume(): void;
  /** Patroni stands still, and PostgreSQL serves on in its role, whatever the others decide. */
  pausePatroni(): void;
  /** After `kill`. */
  start(): void;
}

/** Two machines with PostgreSQL under Patroni with synchronous replication, and the etcd by which they agree. */
export interface PatroniCluster {
  /** The password of the role `coffer`, which owns the database `coffer`. */
  readonly password: string;
  readonly nodes: readonly PatroniNode[];
  /** Waits until a primary has its synchronous standby, and returns them in this order. */
  untilWhole(): Promise<readonly [PatroniNode, PatroniNode]>;
  /** Waits until another node than this is the primary. */
  untilReplaced(primary: PatroniNode): Promise<PatroniNode>;
  /** Makes the synchronous standby the primary in good order. */
  switchOver(primary: PatroniNode): Promise<void>;
  asSuperuser(node: PatroniNode, sql: string): Promise<readonly Record<string, unknown>[]>;
  remove(): Promise<void>;
}

/** Seconds until a primary that says nothing has lost its role. */
const ttl = 10;
const waitMs = 120_000;
const program = '/usr/bin/patroni';
/** PostgreSQL outlives the Patroni that started it. In a space of process ids of its own, it ends with the first process. */
const machine = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']),
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
];

export async function startPatroni(): Promise<PatroniCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-patroni-'));
  await giveToServerUser(folder);
  const [clients, peers] = [await freePort(), await freePort()];
  const etcd = start(
    '/usr/bin/etcd',
    Object.entries({
      'enable-v2': 'true',
      'data-dir': join(folder, 'etcd'),
      'initial-cluster': `default=${at(peers)}`,
      'listen-client-urls': at(clients),
      'advertise-client-urls': at(clients),
      'listen-peer-urls': at(peers),
      'initial-advertise-peer-urls': at(peers),
    }).map(([name, value]) => `--${name}=${value}`),
    folder,
  );
  const passwords = { superuser: newPassword(), coffer: newPassword() };
  const nodes: Node[] = [];
  for (const name of ['one', 'two']) {
    const node = new Node(name, await freePort(), await freePort(), join(folder, name));
    await mkdir(node.folder);
    await writeFile(node.configuration, JSON.stringify(configurationOf(node, clients, passwords.superuser)));
    await giveToServerUser(node.folder, node.configuration);
    nodes.push(node);
  }
  const cluster = new Cluster(folder, etcd, nodes, passwords);
  try {
    for (const node of nodes) node.start();
    const [primary] = await cluster.untilWhole();
    await cluster.asSuperuser(primary, `create role coffer login password '${passwords.coffer}'`, 'postgres');
    await cluster.asSuperuser(primary, 'create database coffer owner coffer', 'postgres');
  } catch (error) {
    await cluster.remove();
    throw error;
  }
  return cluster;
}

function at(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** YAML, which is a superset of JSON. */
function configurationOf({ name, folder, port, api }: Node, etcd: number, password: string): object {
  const user = { username: 'postgres', password };
  return {
    scope: 'coffer',
    name,
    restapi: { listen: `127.0.0.1:${api}`, connect_address: `127.0.0.1:${api}` },
    // The cache of Patroni 3.0's client for version 3 stays behind after a switchover.
    etcd: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ttl,
        loop_wait: 1,
        retry_timeout: 3,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'no-sync'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: postgresBinaries(),
      pgpass: join(folder, 'pgpass'),
      authentication: { superuser: user, replication: user, rewind: user },
      parameters: { unix_socket_directories: folder },
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 md5', 'host replication all 127.0.0.1/32 md5'],
    },
  };
}

class Node implements PatroniNode {
  readonly name: string;
  readonly port: number;
  /** The port of Patroni's own API. */
  readonly api: number;
  readonly folder: string;
  #machine: ChildProcess | undefined;

  constructor(name: string, port: number, api: number, folder: string) {
    [this.name, this.port, this.api, this.folder] = [name, port, api, folder];
  }

  get configuration(): string {
    return join(this.folder, 'patroni.json');
  }

  start(): void {
    this.#machine = start(program, [this.configuration], this.folder, machine);
  }

  async kill(): Promise<void> {
    await end(this.#machine);
  }

  pause(): void {
    signalTree(this.#machine?.pid, 'SIGSTOP');
  }

  resume(): void {
    signalTree(this.#machine?.pid, 'SIGCONT');
  }

  pausePatroni(): void {
    const [first] = childrenOf(this.#machine?.pid ?? 0);
    for (const pid of childrenOf(first ?? 0)) {
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(program)) process.kill(pid, 'SIGSTOP');
    }
  }

  url(path: string): string {
    return `${at(this.api)}${path}`;
  }
}

class Cluster implements PatroniCluster {
  readonly nodes: readonly Node[];
  readonly #folder: string;
  readonly #etcd: ChildProcess;
  readonly #passwords: { readonly superuser: string; readonly coffer: string };

  constructor(
    folder: string,
    etcd: ChildProcess,
    nodes: readonly Node[],
    passwords: Record<'superuser' | 'coffer', string>,
  ) {
    this.nodes = nodes;
    this.#folder = folder;
    this.#etcd = etcd;
    this.#passwords = passwords;
  }

  get password(): string {
    return this.#passwords.coffer;
  }

  async untilWhole(): Promise<readonly [Node, Node]> {
    return until('a primary with its synchronous standby', async () => {
      const primary = await this.#firstThatIs('primary');
      const standby = await this.#firstThatIs('synchronous');
      return primary === undefined || standby === undefined ? undefined : ([primary, standby] as const);
    });
  }

  untilReplaced(primary: PatroniNode): Promise<Node> {
    return until('another primary', async () => {
      const found = await this.#firstThatIs('primary', primary);
      return found === undefined || found.name === primary.name ? undefined : found;
    });
  }

  async switchOver(primary: PatroniNode): Promise<void> {
    const node = this.nodes.find(({ name }) => name === primary.name);
    const answer = await fetch(node?.url('/switchover') ?? '', {
      method: 'POST',
      body: JSON.stringify({ leader: primary.name }),
    });
    if (answer.status !== 200) throw new Error(`the switchover was answered ${answer.status}: ${await answer.text()}`);
  }

  async asSuperuser(
    { port }: PatroniNode,
    sql: string,
    database = 'coffer',
  ): Promise<readonly Record<string, unknown>[]> {
    const password = this.#passwords.superuser;
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', password, database });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  async remove(): Promise<void> {
    for (const node of this.nodes) await node.kill();
    await end(this.#etcd);
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Asks each node but the excluded one, which may be paused. */
  async #firstThatIs(role: 'primary' | 'synchronous', excluded?: PatroniNode): Promise<Node | undefined> {
    for (const node of this.nodes) {
      if (node.name === excluded?.name) continue;
      const answer = await fetch(node.url(`/${role}`), { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
      if (answer?.status === 200) return node;
    }
    return undefined;
  }
}

/** Starts a program as the user of PostgreSQL. */
function start(path: string, args: readonly string[], folder: string, before: readonly string[] = []): ChildProcess {
  if (!existsSync(path)) throw new Error(`${path} is missing: run ".ci/install patroni"`);
  const [first, ...rest] = [...before, ...asServerUser(path, args).flat()];
  const log = openSync(join(folder, 'log'), 'a');
  const child = spawn(first ?? path, rest, { cwd: folder, stdio: ['ignore', log, log] });
  closeSync(log);
  return child;
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  signalTree(child.pid, 'SIGKILL');
  await ended;
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`Patroni: no ${what} after ${waitMs / 1000} s`);
    await sleep(200);
  }
}

function newPassword(): string {
  return randomBytes(16).toString('hex');
}
