import { type ChannelModel, connect } from 'amqplib';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { globSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { created, fails, open, password, survives, tlsFiles } from './broker-events.ts';
import { BrokerProcess } from './broker-process.ts';

const maxMessageBytes = 4_096;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let broker: BrokerProcess;
let files: Awaited<ReturnType<typeof tlsFiles>>;
let env: Record<string, string>;
let [url, tlsUrl] = ['', ''];
let connection: ChannelModel;

/** RabbitMQ as Debian has it, without the script that changes the user. */
const program = globSync('/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server')[0] ?? 'rabbitmq-server';

beforeAll(async () => {
  folder = await temporaryFolder();
  files = await tlsFiles(folder.path);
  const [port, tlsPort, distribution, names] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const configuration = join(folder.path, 'rabbitmq.conf');
  await writeFile(
    configuration,
    [
      `listeners.tcp.1 = 127.0.0.1:${port}`,
      `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
      `ssl_options.cacertfile = ${files.ca}`,
      `ssl_options.certfile = ${files.cert}`,
      `ssl_options.keyfile = ${files.key}`,
      'default_user = events',
      `default_pass = ${password}`,
      `max_message_size = ${maxMessageBytes}`,
      '',
    ].join('\n'),
  );
  env = {
    HOME: folder.path,
    RABBITMQ_NODENAME: `coffer-${port}@localhost`,
    RABBITMQ_CONFIG_FILE: configuration,
    RABBITMQ_MNESIA_BASE: join(folder.path, 'data'),
    RABBITMQ_LOG_BASE: join(folder.path, 'log'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder.path, 'plugins'),
    RABBITMQ_DIST_PORT: String(distribution),
    ERL_EPMD_PORT: String(names),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    // It may be ended while it still knows a broker that was killed.
    ERL_EPMD_RELAXED_COMMAND_CHECK: 'true',
  };
  broker = new BrokerProcess(program, port, [], { env, startsInMs: 90_000 });
  await broker.start();
  url = `amqp://events:${password}@127.0.0.1:${port}`;
  tlsUrl = `amqps://events:${password}@localhost:${tlsPort}`;
  connection = await connect(url);
  connection.on('error', () => undefined);
}, 360_000);
afterAll(async () => {
  await connection?.close().catch(() => undefined);
  await broker?.kill();
  // The daemon of Erlang's names outlives the broker.
  if (env !== undefined) execFileSync('epmd', ['-kill'], { env: { ...process.env, ...env }, stdio: 'ignore' });
  await folder?.remove();
});

/** Binds a queue, and returns what comes into it. */
async function queueOf(exchange: string, key: string) {
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, exchange, key);
  return async () => {
    const message = await channel.get(queue, { noAck: true });
    return message === false ? undefined : message;
  };
}

describe('RabbitMQ', () => {
  it('has each event in the queues of a durable exchange', async () => {
    const values = { url, exchange: 'bucket', exchange_type: 'direct', routing_key: 'log', durable: true };
    const target = await open('amqp', values);
    await target.send(created(0));
    const next = await queueOf('bucket', 'log');
    for (const number of [1, 2]) await target.send(created(number));
    const first = await next();
    expect(first?.content.toString()).toBe(created(1).body);
    expect(first?.properties).toMatchObject({
      contentType: 'application/json',
      deliveryMode: 2,
      headers: { 'minio-bucket': 'b', 'minio-event': 's3:ObjectCreated:Put' },
    });
    expect((await next())?.content.toString()).toBe(created(2).body);
    await target.close();
  });

  it('must have a queue for a mandatory event', async () => {
    const target = await open('amqp', { url, exchange: 'strict', exchange_type: 'fanout', mandatory: true });
    await expect(target.send(created(1))).rejects.toThrow(/no queue takes/);
    const next = await queueOf('strict', '');
    await target.send(created(2));
    expect((await next())?.content.toString()).toBe(created(2).body);
    await target.close();
  });

  it('returns each of the mandatory events that no queue takes, also of those that are sent together', async () => {
    const target = await open('amqp', { url, exchange: 'together', exchange_type: 'fanout', mandatory: true });
    const numbers = Array.from({ length: 16 }, (_, at) => at);
    const returned = await Promise.allSettled(numbers.map((number) => target.send(created(number))));
    expect(returned.map(({ status }) => status)).toEqual(numbers.map(() => 'rejected'));
    const next = await queueOf('together', '');
    await Promise.all(numbers.map((number) => target.send(created(number))));
    const bodies = await Promise.all(numbers.map(async () => (await next())?.content.toString()));
    expect(new Set(bodies)).toEqual(new Set(numbers.map((number) => created(number).body)));
    await target.close();
  });

  it('that refuses an event for a queue that is full has not taken it', async () => {
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue('', {
      exclusive: true,
      arguments: { 'x-max-length': 1, 'x-overflow': 'reject-publish' },
    });
    const target = await open('amqp', { url, routing_key: queue, mandatory: true });
    await target.send(created(1));
    await expect(target.send(created(2))).rejects.toThrow(/nack|refused/);
    await channel.get(queue, { noAck: true });
    await target.send(created(3));
    await target.close();
  });

  it('that ends the channel for a large event names the size, and takes the events that were sent with it', async () => {
    const target = await open('amqp', { url, exchange: 'sized', exchange_type: 'fanout' });
    await target.send(created(0));
    const next = await queueOf('sized', '');
    const large = { ...created(1), body: 'a'.repeat(maxMessageBytes + 1) };
    const rejected = { code: 'rejected', message: expect.stringContaining(String(maxMessageBytes)) as string };
    const [, other] = await Promise.all([
      expect(target.send(large)).rejects.toMatchObject(rejected),
      target.send(created(2)).then(
        () => 'taken',
        ({ code }: { readonly code: string }) => code,
      ),
    ]);
    if (other !== 'taken') {
      expect(other).toBe('unavailable');
      await target.send(created(2));
    }
    await expect(target.send(large)).rejects.toMatchObject(rejected);
    await target.send(created(3));
    expect([(await next())?.content.toString(), (await next())?.content.toString()]).toEqual(
      [2, 3].map((number) => created(number).body),
    );
    await target.close();
  });

  it('that removed its exchange says so for each event that was sent, and gets it again', async () => {
    const target = await open('amqp', { url, exchange: 'gone', exchange_type: 'fanout' });
    await target.send(created(0));
    const channel = await connection.createChannel();
    await channel.deleteExchange('gone');
    const sent = await Promise.allSettled([1, 2, 3].map((number) => target.send(created(number))));
    for (const one of sent) expect(one).toMatchObject({ status: 'rejected', reason: { message: /NOT_FOUND/ } });
    await expect.poll(() => target.send(created(4)).then(() => 'sent', String), { timeout: 30_000 }).toBe('sent');
    await target.close();
  });

  it('names the queue by the routing key, without an exchange', async () => {
    const channel = await connection.createChannel();
    await channel.assertQueue('plain', { autoDelete: true });
    const target = await open('amqp', { url, routing_key: 'plain', mandatory: true });
    await target.send(created(3));
    const message = await channel.get('plain', { noAck: true });
    expect(message !== false && message.content.toString()).toBe(created(3).body);
    await target.close();
  });

  it('proves its certificate', async () => {
    const values = { url: tlsUrl, exchange: 'secure', exchange_type: 'fanout' };
    const target = await open('amqp', { ...values, ca_file: files.ca });
    await target.send(created(1));
    await target.close();
    await fails('amqp', { ...values, ca_file: files.other }, /certificate/);
  });

  it('refuses an exchange of another type, and says so', async () => {
    const target = await open('amqp', { url, exchange: 'typed', exchange_type: 'fanout' });
    await target.send(created(1));
    await target.close();
    await fails('amqp', { url, exchange: 'typed', exchange_type: 'topic' }, /PRECONDITION_FAILED|inequivalent/);
  });

  it('that refuses a password is away, and one that was killed comes back', async () => {
    await fails('amqp', { url: url.replace(password, 'wrong'), exchange: 'bucket' }, /ACCESS_REFUSED|refused/i);
    const values = { url, exchange: 'kept', exchange_type: 'fanout', durable: true };
    const [kill, start] = [() => broker.kill(), () => broker.start()];
    await survives(await open('amqp', values), { kill, start });
  }, 540_000);
});
