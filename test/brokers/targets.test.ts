import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import mqtt from 'mqtt';
import { Client } from 'pg';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TargetValues } from '../../server/notifications/target.ts';
import { freePort } from '../support/process/free-port.ts';
import { startPostgres, type TestDatabase, type TestPostgres } from '../support/server/postgres.ts';
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

beforeAll(async () => {
  folder = await temporaryFolder();
  // Mosquitto leaves the rights of root.
  await chmod(folder.path, 0o755);
});
afterAll(() => folder?.remove());

describe('Redis', () => {
  let broker: BrokerProcess;
  let values: TargetValues;
  let reader: Redis;

  beforeAll(async () => {
    const port = await freePort();
    const options = ['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password, '--dir', folder.path];
    broker = new BrokerProcess('redis-server', port, [...options, '--appendonly', 'yes']);
    await broker.start();
    values = { address: `127.0.0.1:${port}`, key: 'events', password };
    reader = new Redis({ port, password, lazyConnect: true });
    reader.on('error', () => undefined);
  });
  afterAll(async () => {
    reader?.disconnect();
    await broker?.kill();
  });

  it('has the last event of each object', async () => {
    const target = await open('redis', values);
    await target.send(created(1));
    await target.send(created(2));
    await target.send({ ...untagged, record: created(2).record });
    const last = async () => JSON.parse((await reader.hget('events', 'b/key')) ?? '') as unknown;
    expect(await last()).toEqual({ Records: [created(2).record] });
    await target.send(removedOld);
    expect(await last()).toEqual({ Records: [created(2).record] });
    await target.send(restored(1));
    expect(await last()).toEqual({ Records: [created(1).record] });
    await target.send(removed);
    expect(await reader.hlen('events')).toBe(0);
    await target.close();
  });

  it('has all events in order in a list', async () => {
    const target = await open('redis', { ...values, key: 'log', format: 'access' });
    for (const number of [1, 2, 3]) await target.send(created(number));
    const lines = (await reader.lrange('log', 0, -1)).map(
      (line) => JSON.parse(line) as { Event: { number: number }[] }[],
    );
    expect(lines.map(([line]) => line?.Event[0]?.number)).toEqual([1, 2, 3]);
    await target.close();
  });

  it('says of each event that is sent with others whether it has it', async () => {
    await reader.set('text', 'x');
    const wrong = await open('redis', { ...values, key: 'text' });
    const sent = await Promise.allSettled([1, 2, 3].map((number) => wrong.send(created(number))));
    for (const one of sent) expect(one).toMatchObject({ status: 'rejected', reason: { message: /WRONGTYPE/ } });
    await wrong.close();
    const target = await open('redis', { ...values, key: 'many', format: 'access' });
    await target.send(created(1));
    for (const [option, refusing, usual, message] of [
      ['maxmemory', '1', '0', /OOM/],
      ['min-replicas-to-write', '1', '0', /NOREPLICAS/],
    ] as const) {
      await reader.config('SET', option, refusing);
      const refused = await Promise.allSettled([2, 3].map((number) => target.send(created(number))));
      await reader.config('SET', option, usual);
      for (const one of refused) expect(one).toMatchObject({ status: 'rejected', reason: { message } });
    }
    await target.send(created(4));
    expect(await reader.llen('many')).toBe(2);
    await target.close();
  });

  it('that is a replica has taken nothing', async () => {
    const port = await freePort();
    const at = String(broker.port);
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password, '--save', ''];
    const others = ['--replicaof', '127.0.0.1', at, '--masterauth', password];
    const replica = new BrokerProcess('redis-server', port, [...own, ...others]);
    await replica.start();
    const target = await open('redis', { ...values, address: `127.0.0.1:${port}` });
    await expect(target.send(created(1))).rejects.toThrow(/READONLY|MASTERDOWN|LOADING/);
    await target.close();
    await replica.kill();
  });

  it('that refuses a password is away, and one that was killed comes back', async () => {
    await expect((await open('redis', { ...values, password: 'wrong' })).send(created(1))).rejects.toThrow(
      /WRONGPASS|NOAUTH|invalid/i,
    );
    const target = await open('redis', values);
    await survives(target, { kill: () => broker.kill(), start: () => broker.start() });
  });
});

describe('NATS', () => {
  let broker: BrokerProcess;
  let values: TargetValues;

  beforeAll(async () => {
    const port = await freePort();
    const options = ['-a', '127.0.0.1', '-p', String(port), '--user', 'events', '--pass', password];
    broker = new BrokerProcess('nats-server', port, [...options, '-js', '-sd', join(folder.path, 'nats')]);
    await broker.start();
    values = { address: `127.0.0.1:${port}`, subject: 'plain.events', username: 'events', password };
  });
  afterAll(() => broker?.kill());

  const reader = () => connect({ servers: `127.0.0.1:${broker.port}`, user: 'events', pass: password });

  it('publishes on a subject', async () => {
    const nats = await reader();
    const subscription = nats.subscribe('plain.events');
    await nats.flush();
    const target = await open('nats', values);
    await target.send(created(1));
    const { value } = await subscription[Symbol.asyncIterator]().next();
    expect((value as { string(): string }).string()).toBe(created(1).body);
    await Promise.all([target.close(), nats.close()]);
  });

  it('needs a stream that takes the event, with JetStream', async () => {
    const nats = await reader();
    const target = await open('nats', { ...values, subject: 'kept.events', jetstream: true });
    await expect(target.send(created(1))).rejects.toThrow();
    const manager = await jetstreamManager(nats);
    await manager.streams.add({ name: 'kept', subjects: ['kept.>'] });
    await target.send(created(1));
    await target.send(created(2));
    expect((await manager.streams.info('kept')).state.messages).toBe(2);
    await Promise.all([target.close(), nats.close()]);
  });

  it('that refuses a password is away, and one that was killed comes back', async () => {
    await expect((await open('nats', { ...values, password: 'wrong' })).send(created(1))).rejects.toThrow(
      /authoriz|authentic/i,
    );
    const target = await open('nats', values);
    await survives(target, { kill: () => broker.kill(), start: () => broker.start() });
  });

  it('that refuses the subject, and an event that is too large, has taken nothing', async () => {
    const port = await freePort();
    const configuration = join(folder.path, 'nats.conf');
    const permissions = '{ publish: { allow: ["plain.>", "$JS.>"] } }';
    await writeFile(
      configuration,
      `port: ${port}\nmax_payload: 4096\nauthorization { users = [{ user: events, password: "${password}", permissions: ${permissions} }] }\n`,
    );
    const limited = new BrokerProcess('nats-server', port, ['-c', configuration]);
    await limited.start();
    const address = { ...values, address: `127.0.0.1:${port}` };
    const denied = await open('nats', { ...address, subject: 'other.events' });
    const sent = await Promise.allSettled([1, 2, 3].map((number) => denied.send(created(number))));
    const message = expect.stringMatching(/permissions? violation/i) as string;
    expect(sent).toEqual(sent.map(() => expect.objectContaining({ reason: expect.objectContaining({ message }) })));
    const allowed = await open('nats', address);
    const large = { ...created(1), body: 'a'.repeat(5_000) };
    await expect(allowed.send(large)).rejects.toMatchObject({ code: 'rejected', message: /4096/ });
    await allowed.send(created(1));
    await Promise.all([denied.close(), allowed.close()]);
    await limited.kill();
  });
});

describe('MQTT', () => {
  let broker: BrokerProcess;
  let values: TargetValues;

  beforeAll(async () => {
    const port = await freePort();
    const place = join(folder.path, 'mosquitto');
    await mkdir(place);
    const passwords = join(place, 'passwords');
    execFileSync('mosquitto_passwd', ['-b', '-c', passwords, 'events', password]);
    await chmod(passwords, 0o644);
    const configuration = join(place, 'mosquitto.conf');
    await writeFile(configuration, `listener ${port} 127.0.0.1\nallow_anonymous false\npassword_file ${passwords}\n`);
    broker = new BrokerProcess('mosquitto', port, ['-c', configuration]);
    await broker.start();
    values = { broker: `tcp://127.0.0.1:${port}`, topic: 'events', username: 'events', password, qos: 1 };
  });
  afterAll(() => broker?.kill());

  it('publishes on a topic', async () => {
    const reader = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`, { username: 'events', password });
    const got = new Promise<string>((resolve) => {
      reader.on('message', (_topic, body) => resolve(body.toString()));
    });
    await reader.subscribeAsync('events', { qos: 1 });
    const target = await open('mqtt', values);
    await target.send(created(1));
    expect(await got).toBe(created(1).body);
    await Promise.all([target.close(), reader.endAsync(true)]);
  });

  it('that refuses a password is away, and one that was killed comes back', async () => {
    await expect((await open('mqtt', { ...values, password: 'wrong' })).send(created(1))).rejects.toThrow(/authoriz/i);
    const target = await open('mqtt', values);
    await survives(target, { kill: () => broker.kill(), start: () => broker.start() });
  });

  it.each([1, 2])('that refuses the topic has taken no event with quality of service %i', async (qos) => {
    const port = await freePort();
    const [configuration, rights] = ['conf', 'acl'].map((end) => join(folder.path, `mosquitto-${port}.${end}`));
    await writeFile(rights ?? '', 'topic read #\ntopic write allowed\n');
    await writeFile(configuration ?? '', `listener ${port} 127.0.0.1\nallow_anonymous true\nacl_file ${rights}\n`);
    for (const path of [configuration, rights]) await chmod(path ?? '', 0o644);
    const limited = new BrokerProcess('mosquitto', port, ['-c', configuration ?? '']);
    await limited.start();
    const at = { broker: `tcp://127.0.0.1:${port}`, qos };
    const denied = await open('mqtt', { ...at, topic: 'denied' });
    const sent = await Promise.allSettled([1, 2, 3].map((number) => denied.send(created(number))));
    for (const one of sent)
      expect(one).toMatchObject({ status: 'rejected', reason: { message: /authori[sz]ed|135/i } });
    const allowed = await open('mqtt', { ...at, topic: 'allowed' });
    await allowed.send(created(1));
    await Promise.all([denied.close(), allowed.close()]);
    await limited.kill();
  });

  it('has taken an event with quality of service 0 when it answers', async () => {
    const reader = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`, { username: 'events', password });
    const got: string[] = [];
    reader.on('message', (_topic, body) => got.push(body.toString()));
    await reader.subscribeAsync('fast', { qos: 0 });
    const target = await open('mqtt', { ...values, topic: 'fast', qos: 0 });
    const numbers = Array.from({ length: 16 }, (_, at) => at);
    await Promise.all(numbers.map((number) => target.send(created(number))));
    await expect.poll(() => got.length, { timeout: 30_000 }).toBe(16);
    await broker.kill();
    await expect(target.send(created(90))).rejects.toThrow();
    await broker.start();
    await Promise.all([target.close(), reader.endAsync(true)]);
  });

  it.each([
    ['packet', 'max_packet_size 4096', /too large/],
    ['message', 'message_size_limit 4096', /puback reason code/i],
  ])('that takes no large %s says so at once, and takes the next one', async (_what, option, message) => {
    const port = await freePort();
    const configuration = join(folder.path, `mosquitto-${port}.conf`);
    await writeFile(configuration, `listener ${port} 127.0.0.1\nallow_anonymous true\n${option}\n`);
    await chmod(configuration, 0o644);
    const limited = new BrokerProcess('mosquitto', port, ['-c', configuration]);
    await limited.start();
    const target = await open('mqtt', { broker: `tcp://127.0.0.1:${port}`, topic: 'events', qos: 1 });
    await expect(target.send({ ...created(1), body: 'a'.repeat(5_000) })).rejects.toThrow(message);
    await target.send(created(1));
    await target.close();
    await limited.kill();
  });
});

describe('PostgreSQL', () => {
  let server: TestPostgres;
  let database: TestDatabase;
  let values: { readonly connection_string: string; readonly table: string };
  let reader: Client;

  beforeAll(async () => {
    server = await startPostgres();
    database = await server.createDatabase();
    const url = new URL(database.url);
    url.password = database.password;
    values = { connection_string: url.href, table: 'Events' };
    reader = new Client(url.href);
    await reader.connect();
  }, 180_000);
  afterAll(async () => {
    await reader?.end();
    await server?.remove();
  });

  it('has the last event of each object', async () => {
    const target = await open('postgresql', values);
    await target.send(created(1));
    await target.send({ ...untagged, record: created(2).record });
    expect(await rows()).toEqual([{ key: 'b/key', value: { Records: [created(2).record] } }]);
    await target.send(removedOld);
    expect(await rows()).toEqual([{ key: 'b/key', value: { Records: [created(2).record] } }]);
    await target.send(restored(1));
    expect(await rows()).toEqual([{ key: 'b/key', value: { Records: [created(1).record] } }]);
    await target.send(removed);
    expect(await rows()).toEqual([]);
    await target.close();
  });

  it('is verified with sslmode=require, by the authorities of a file', async () => {
    const files = await tlsFiles(folder.path);
    const [certPem, keyPem] = await Promise.all([files.cert, files.key].map((path) => readFile(path, 'utf8')));
    const secure = await startPostgres({ certificate: { certPem: certPem ?? '', keyPem: keyPem ?? '' } });
    try {
      const one = await secure.createDatabase();
      const { port, username, pathname } = new URL(one.url);
      const connection = `host=localhost port=${port} user=${username} password='${one.password}' dbname=${pathname.slice(1)} sslmode=require`;
      const of = (more: TargetValues) => ({ connection_string: connection, table: 'secure', ...more });
      await fails('postgresql', of({}), /certificate/i);
      await fails('postgresql', of({ ca_file: files.other }), /certificate/i);
      const target = await open('postgresql', of({ ca_file: files.ca }));
      await target.send(created(1));
      await target.close();
    } finally {
      await secure.remove();
    }
  });

  const rows = async () => (await reader.query('SELECT key, value FROM "Events"')).rows as unknown[];

  it('has a row for each event, and takes the form of libpq', async () => {
    const { hostname, port, username, pathname } = new URL(database.url);
    const connection = `host=${hostname} port=${port} user=${username} password='${database.password}' dbname=${pathname.slice(1)} sslmode=disable`;
    const target = await open('postgresql', { connection_string: connection, table: 'log', format: 'access' });
    for (const number of [1, 2]) await target.send(created(number));
    const { rows } = await reader.query('SELECT event_time, event_data FROM log');
    expect(rows).toEqual(
      [1, 2].map((number) => ({
        event_time: new Date(created(1).time),
        event_data: { Records: [created(number).record] },
      })),
    );
    await target.close();
  });

  it('that refuses the values of one event has not taken it, and takes others', async () => {
    await reader.query(`CREATE TABLE picky (key varchar PRIMARY KEY CHECK (key <> 'b/bad'), value jsonb)`);
    const target = await open('postgresql', { ...values, table: 'picky' });
    for (const [key, state] of [
      ['b/bad', /23514/],
      ['b/\u0000', /22021/],
    ] as const)
      await expect(target.send({ ...created(1), key })).rejects.toMatchObject({ code: 'rejected', message: state });
    await target.send(created(1));
    expect((await reader.query('SELECT key FROM picky')).rows).toEqual([{ key: 'b/key' }]);
    await target.close();
  });

  it('leaves no connection that waits for a lock, however often it is tried', async () => {
    // Another session makes the same table, and does not end.
    await reader.query('begin');
    await reader.query('create table locked (key varchar primary key, value jsonb)');
    const target = await open('postgresql', { ...values, table: 'locked' });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(target.send(created(1))).rejects.toThrow(/did not answer|statement timeout/);
    }
    await expect
      .poll(
        async () => {
          const sql = `select count(*)::int as waiting from pg_stat_activity where query like 'CREATE TABLE%' and state = 'active'`;
          const [row] = await server.asSuperuser(sql);
          return row?.['waiting'];
        },
        { timeout: 60_000 },
      )
      .toBe(0);
    await reader.query('commit');
    await target.send(created(1));
    await target.close();
  }, 270_000);

  it('that refuses a password is away, and one that was killed comes back', async () => {
    const url = new URL(values.connection_string);
    url.password = 'wrong';
    await expect(
      (await open('postgresql', { ...values, connection_string: url.href })).send(created(1)),
    ).rejects.toThrow(/password/);
    reader.on('error', () => undefined);
    const target = await open('postgresql', values);
    await survives(target, { kill: () => server.kill(), start: () => server.start() });
  }, 180_000);
});
