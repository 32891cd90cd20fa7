import kafkajs from 'kafkajs';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { created, fails, open, password, survives, tlsFiles } from './broker-events.ts';
import { BrokerProcess } from './broker-process.ts';

const tools = process.env['COFFER_TOOLS'] ?? join(homedir(), '.cache', 'coffer-tools');
const java = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const { Kafka, logLevel } = kafkajs;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let broker: BrokerProcess;
let files: Awaited<ReturnType<typeof tlsFiles>>;
let [plain, secure] = ['', ''];
const account = { sasl: true, sasl_username: 'events', sasl_password: password };

beforeAll(async () => {
  folder = await temporaryFolder();
  files = await tlsFiles(folder.path);
  const [port, tlsPort, controller] = await Promise.all([freePort(), freePort(), freePort()]);
  [plain, secure] = [`127.0.0.1:${port}`, `localhost:${tlsPort}`];
  const listeners = `SASL_PLAINTEXT://${plain},SASL_SSL://${secure}`;
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required username="events" password="${password}" user_events="${password}";`;
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';
  const properties = join(folder.path, 'server.properties');
  await writeFile(
    properties,
    [
      'process.roles=broker,controller',
      'node.id=1',
      `controller.quorum.voters=1@127.0.0.1:${controller}`,
      'controller.listener.names=CONTROLLER',
      `listeners=${listeners},CONTROLLER://127.0.0.1:${controller}`,
      `advertised.listeners=${listeners}`,
      'listener.security.protocol.map=CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL',
      'inter.broker.listener.name=SASL_PLAINTEXT',
      'sasl.mechanism.inter.broker.protocol=PLAIN',
      'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      ...['sasl_plaintext', 'sasl_ssl'].flatMap((name) => [
        `listener.name.${name}.plain.sasl.jaas.config=${login}`,
        `listener.name.${name}.scram-sha-256.sasl.jaas.config=${scram}`,
        `listener.name.${name}.scram-sha-512.sasl.jaas.config=${scram}`,
      ]),
      'ssl.keystore.type=PEM',
      `ssl.keystore.location=${files.both}`,
      `log.dirs=${join(folder.path, 'data')}`,
      'num.partitions=1',
      'offsets.topic.replication.factor=1',
      'offsets.topic.num.partitions=1',
      'group.initial.rebalance.delay.ms=0',
      '',
    ].join('\n'),
  );
  const [libraries = 'kafka is not installed'] = globSync(join(tools, 'kafka-*'));
  const run = [...java, '-cp', `${libraries}/*`];
  const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((name) => [
    '--add-scram',
    `${name}=[name=events,password=${password}]`,
  ]);
  const format = ['format', '--config', properties, '--cluster-id', 'AAAAAAAAAAAAAAAAAAAAAA', ...users];
  execFileSync('java', [...run, 'kafka.tools.StorageTool', ...format], { stdio: 'pipe' });
  broker = new BrokerProcess('java', port, [...run, 'kafka.Kafka', properties], { startsInMs: 90_000 });
  await broker.start();
}, 360_000);
afterAll(async () => {
  await broker?.kill();
  await folder?.remove();
});

/** Sends until the broker has made the topic. */
async function send(values: Parameters<typeof open>[1], numbers: readonly number[]): Promise<void> {
  const target = await open('kafka', values);
  for (const number of numbers) {
    await expect
      .poll(() => target.send(created(number)).then(() => 'sent', String), { timeout: 90_000, interval: 250 })
      .toBe('sent');
  }
  await target.close();
}

async function received(topic: string, count: number) {
  const sasl = { mechanism: 'plain', username: 'events', password } as const;
  const kafka = new Kafka({ brokers: [plain], sasl, logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `test-${topic}` });
  const messages: { readonly key: string | undefined; readonly value: string | undefined }[] = [];
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage({ message: { key, value } }) {
      messages.push({ key: key?.toString(), value: value?.toString() });
      return Promise.resolve();
    },
  });
  await expect.poll(() => messages.length, { timeout: 90_000 }).toBeGreaterThanOrEqual(count);
  await consumer.disconnect();
  return messages;
}

describe('Kafka', () => {
  it('has all events of an object in order, by its name', async () => {
    await send({ ...account, brokers: plain, topic: 'events' }, [1, 2, 3]);
    expect(await received('events', 3)).toEqual([1, 2, 3].map((n) => ({ key: 'b/key', value: created(n).body })));
  }, 180_000);

  it.each(['sha256', 'sha512'])(
    'takes a password by SCRAM (%s)',
    async (mechanism) => {
      const values = { ...account, sasl_mechanism: mechanism, brokers: plain, topic: `by-${mechanism}` };
      await send(values, [1]);
      await fails('kafka', { ...values, sasl_password: 'wrong' }, /auth/i);
    },
    60_000,
  );

  it('says of each event that is sent with others whether its partition takes it', async () => {
    const sasl = { mechanism: 'plain', username: 'events', password } as const;
    const admin = new Kafka({ brokers: [plain], sasl, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const topics = [{ topic: 'small', configEntries: [{ name: 'max.message.bytes', value: '2000' }] }];
    await admin.createTopics({ topics, waitForLeaders: true });
    await admin.disconnect();
    const target = await open('kafka', { ...account, brokers: plain, topic: 'small' });
    const large = { ...created(1), body: 'a'.repeat(5_000) };
    const sent = await Promise.allSettled([created(2), large, created(3)].map((event) => target.send(event)));
    expect(sent).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'rejected' } },
      { status: 'fulfilled' },
    ]);
    await target.close();
    expect(await received('small', 2)).toHaveLength(2);
  }, 60_000);

  it('proves its certificate', async () => {
    const values = { ...account, brokers: secure, topic: 'secure', tls: true };
    await send({ ...values, ca_file: files.ca }, [1]);
    await fails('kafka', { ...values, ca_file: files.other }, /certificate/);
  }, 180_000);

  it('that refuses a password is away, and one that was killed comes back', async () => {
    const values = { ...account, brokers: plain, topic: 'kept' };
    await fails('kafka', { ...values, sasl_password: 'wrong' }, /auth/i);
    await send(values, [1]);
    await survives(await open('kafka', values), { kill: () => broker.kill(), start: () => broker.start() });
  }, 540_000);
});
