import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../process/free-port.ts';
import { asServerUser, giveToServerUser, type TestPostgres } from './postgres.ts';

/** A PgBouncer or haproxy in front of databases of a test. */
export interface TestProxy {
  readonly port: number;
  remove(): Promise<void>;
}

/** Starts a PgBouncer in front of a database. It shows the names and passwords of the database. */
export async function startPgbouncer(
  postgres: TestPostgres,
  mode: 'session' | 'transaction' | 'statement',
  poolSize: number,
): Promise<TestProxy> {
  const port = await freePort();
  return startProxy('/usr/sbin/pgbouncer', port, 'pgbouncer', {
    'pgbouncer.ini': (folder) => `[databases]
* = host=127.0.0.1 port=${postgres.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 500
`,
    'users.txt': () => `"coffer" "${postgres.password}"\n`,
  });
}

/** Starts a haproxy that leads to the first of the databases that takes connections. */
export async function startHaproxy(databases: readonly TestPostgres[]): Promise<TestProxy> {
  const port = await freePort();
  const servers = databases.map((one, index) => {
    const standby = index === 0 ? '' : ' backup';
    return `  server db${index} 127.0.0.1:${one.port} check inter 200ms fall 2 rise 1 on-marked-down shutdown-sessions${standby}`;
  });
  return startProxy('/usr/sbin/haproxy', port, 'haproxy', {
    'haproxy.cfg': () => `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen records
  bind 127.0.0.1:${port}
${servers.join('\n')}
`,
  });
}

async function startProxy(
  program: string,
  port: number,
  name: string,
  files: Readonly<Record<string, (folder: string) => string>>,
): Promise<TestProxy> {
  if (!existsSync(program)) throw new Error(`${program} is missing: run ".ci/install ${name}"`);
  const folder = await mkdtemp(join(tmpdir(), `coffer-${name}-`));
  const paths: string[] = [];
  for (const [file, text] of Object.entries(files)) {
    paths.push(join(folder, file));
    await writeFile(join(folder, file), text(folder), { mode: 0o600 });
  }
  await giveToServerUser(folder, ...paths);
  const [configuration = ''] = paths;
  const [command, args] = asServerUser(program, name === 'haproxy' ? ['-db', '-f', configuration] : [configuration]);
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-5_000);
    });
  }
  await untilListening(child, port, () => log);
  return {
    port,
    async remove() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function untilListening(child: ChildProcess, port: number, log: () => string): Promise<void> {
  for (let round = 0; round < 600; round += 1) {
    if (child.exitCode !== null) throw new Error(`the proxy ended:\n${log()}`);
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await sleep(50);
  }
  throw new Error(`the proxy does not listen:\n${log()}`);
}
