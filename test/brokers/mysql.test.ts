import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createPool, type Pool } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import {
  created,
  fails,
  open,
  password,
  removed,
  removedOld,
  restored,
  survives,
  tlsFiles,
  untagged,
} from './broker-events.ts';
import { BrokerProcess } from './broker-process.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files: Awaited<ReturnType<typeof tlsFiles>>;
let broker: BrokerProcess;
let reader: Pool;
let [dsn, tlsDsn] = ['', ''];

beforeAll(async () => {
  folder = await temporaryFolder();
  files = await tlsFiles(folder.path);
  const port = await freePort();
  const data = join(folder.path, 'data');
  const base = [
    '--no-defaults',
    `--datadir=${data}`,
    `--user=${process.getuid?.() === 0 ? 'root' : process.env['USER']}`,
  ];
  const first = ['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-log-bin'];
  execFileSync('mariadb-install-db', [...base, ...first], { stdio: 'pipe' });
  broker = new BrokerProcess('mariadbd', port, [
    ...base,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder.path, 'socket')}`,
    '--innodb-buffer-pool-size=32M',
    `--ssl-ca=${files.ca}`,
    `--ssl-cert=${files.cert}`,
    `--ssl-key=${files.key}`,
  ]);
  await broker.start();
  const root = createPool({ socketPath: join(folder.path, 'socket'), user: 'root' });
  await root.query('CREATE DATABASE events');
  await root.query(`CREATE USER 'events'@'%' IDENTIFIED BY '${password}'`);
  await root.query(`CREATE USER 'secure'@'%' IDENTIFIED BY '${password}' REQUIRE SSL`);
  for (const user of ['events', 'secure']) await root.query(`GRANT ALL ON events.* TO '${user}'@'%'`);
  await root.end();
  dsn = `events:${password}@tcp(127.0.0.1:${port})/events`;
  tlsDsn = `secure:${password}@tcp(localhost:${port})/events?tls=true`;
  reader = createPool({ host: '127.0.0.1', port, user: 'events', password, database: 'events', timezone: 'Z' });
}, 180_000);
afterAll(async () => {
  await reader?.end().catch(() => undefined);
  await broker?.kill();
  await folder?.remove();
});

const rows = async (sql: string) => (await reader.query(sql))[0] as Record<string, unknown>[];
const parsed = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);

describe('MariaDB', () => {
  it('has the last event of each object', async () => {
    const target = await open('mysql', { dsn_string: dsn, table: 'last' });
    await target.send(created(1));
    await target.send({ ...untagged, record: created(2).record });
    const [row, more] = await rows('SELECT key_name, value FROM last');
    expect([row?.['key_name'], parsed(row?.['value']), more]).toEqual([
      'b/key',
      { Records: [created(2).record] },
      undefined,
    ]);
    await target.send(removedOld);
    expect(await rows('SELECT * FROM last')).toHaveLength(1);
    await target.send(restored(1));
    expect(parsed((await rows('SELECT value FROM last'))[0]?.['value'])).toEqual({ Records: [created(1).record] });
    await target.send(removed);
    expect(await rows('SELECT * FROM last')).toEqual([]);
    await target.close();
  });

  it('tells long names and names by case apart', async () => {
    const target = await open('mysql', { dsn_string: dsn, table: 'named' });
    const keys = ['b/a', 'b/A', `b/${'ä'.repeat(500)}`, `b/${'ä'.repeat(499)}b`];
    for (const key of keys) await target.send({ ...created(1), key });
    const found = (await rows('SELECT key_name FROM named')).map(({ key_name }) => key_name);
    expect(new Set(found)).toEqual(new Set(keys));
    await target.close();
  });

  it('has a row for each event', async () => {
    const target = await open('mysql', { dsn_string: dsn, table: 'events.log', format: 'access' });
    for (const number of [1, 2]) await target.send(created(number));
    const found = await rows('SELECT event_time, event_data FROM log');
    expect(found.map(({ event_time, event_data }) => [event_time, parsed(event_data)])).toEqual(
      [1, 2].map((number) => [new Date('2026-01-02T03:04:05Z'), { Records: [created(number).record] }]),
    );
    await target.close();
  });

  it('that refuses the values of one event has not taken it, and takes others', async () => {
    await reader.query(
      'CREATE TABLE narrow (key_name VARCHAR(10), key_hash CHAR(64) GENERATED ALWAYS AS (SHA2(key_name, 256)) STORED, value JSON, UNIQUE KEY (key_hash))',
    );
    const target = await open('mysql', { dsn_string: dsn, table: 'narrow' });
    const long = { ...created(1), key: `b/${'x'.repeat(20)}` };
    await expect(target.send(long)).rejects.toMatchObject({ code: 'rejected', message: /22001/ });
    await target.send(created(1));
    expect(await rows('SELECT * FROM narrow')).toHaveLength(1);
    await target.close();
  });

  it('proves its certificate', async () => {
    const target = await open('mysql', { dsn_string: tlsDsn, table: 'secure', ca_file: files.ca });
    await target.send(created(1));
    await target.close();
    await fails('mysql', { dsn_string: tlsDsn, table: 'secure', ca_file: files.other }, /certificate/);
    const unencrypted = tlsDsn.replace('?tls=true', '');
    await fails('mysql', { dsn_string: unencrypted, table: 'secure' }, /denied|secure/i);
  });

  it('that refuses a password is away, and one that was killed comes back', async () => {
    await fails('mysql', { dsn_string: dsn.replace(password, 'wrong'), table: 'kept' }, /denied/);
    const target = await open('mysql', { dsn_string: dsn, table: 'kept' });
    await survives(target, { kill: () => broker.kill(), start: () => broker.start() });
  }, 180_000);
});
