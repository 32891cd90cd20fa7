import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventReceiver } from '../events/event-receiver.ts';
import { tool } from '../support/process/run-command.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;
const receivers = new Map<string, EventReceiver>();

const urlOf = (alias: string) => receivers.get(alias)?.url ?? '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-events-'));
  for (const alias of ['c', 'm']) receivers.set(alias, await EventReceiver.start());
  [ours, theirs] = await Promise.all([
    startServer({ env: { SVC_NOTIFY_WEBHOOK_ENDPOINT_A: urlOf('c') } }),
    startMinio('127.0.0.1', {
      MINIO_NOTIFY_WEBHOOK_ENABLE_A: 'on',
      MINIO_NOTIFY_WEBHOOK_ENDPOINT_A: urlOf('m'),
    }),
  ]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
  for (const alias of ['c', 'm']) await mc.run('mb', `${alias}/events`);
}, 180_000);
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop(), ...[...receivers.values()].map((receiver) => receiver.stop())]);
  await rm(folder, { recursive: true, force: true });
});

const arn = 'arn:minio:sqs::A:webhook';

/** The exit code of a command, and the rules that the bucket then has. */
async function outcome(alias: string, command: string): Promise<unknown> {
  const { code } = await mc.try(...command.split(' ').map((word) => word.replaceAll('ALIAS', alias)));
  const { lines } = await mc.try('event', 'ls', `${alias}/events`);
  return { code, rules: lines.map(({ id: _id, ...rule }) => rule) };
}

describe('mc event, as against MinIO', () => {
  it.each([
    `event add ALIAS/events ${arn}`,
    `event add ALIAS/events ${arn}`,
    `event rm ALIAS/events ${arn}`,
    `event add --event put --prefix photos/ --suffix .jpg ALIAS/events ${arn}`,
    `event add --event delete ALIAS/events ${arn}`,
    'event rm --force ALIAS/events',
    `event add --event replica,ilm,scanner ALIAS/events ${arn}`,
    'event rm --force ALIAS/events',
    'event add ALIAS/events arn:minio:sqs::B:webhook',
    'event add ALIAS/events arn:aws:sqs:us-east-1:1:q',
    `event add --event nothing ALIAS/events ${arn}`,
    `event add ALIAS/no-such-bucket ${arn}`,
    `event add --event put,delete,get ALIAS/events ${arn}`,
  ])('%s', async (command) => {
    expect(await outcome('c', command)).toEqual(await outcome('m', command));
  });
});

/** The names of the fields of a document, by their paths. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((one) => fieldsOf(one, `${path}[]`)))];
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, field]) => fieldsOf(field, `${path}.${name}`));
}

/** MinIO names the length of its answer to a PUT. */
const ofMinio = /responseElements\.content-length$/;

describe('the messages of a webhook', () => {
  it('have the fields of MinIO', async () => {
    const path = join(folder, 'body.txt');
    await writeFile(path, 'text');
    const messages = [];
    for (const alias of ['c', 'm']) {
      const receiver = receivers.get(alias);
      const count = () => receiver?.events.filter(({ EventName }) => EventName !== undefined);
      await mc.run('cp', '--attr', 'colour=red', path, `${alias}/events/folder/one`);
      await mc.run('rm', `${alias}/events/folder/one`);
      const names = () => count()?.map(({ EventName }) => EventName);
      await expect.poll(names, { timeout: 60_000 }).toContain('s3:ObjectRemoved:Delete');
      const shown = ['s3:ObjectCreated:Put', 's3:ObjectRemoved:Delete'].map((name) =>
        count()?.find(({ EventName }) => EventName === name),
      );
      messages.push(
        shown.map((message) => ({
          key: message?.Key,
          fields: fieldsOf(message)
            .filter((field) => !ofMinio.test(field))
            .toSorted(),
        })),
      );
    }
    expect(messages[0]).toEqual(messages[1]);
  });
});

describe('mc watch', () => {
  it('sees what happens in all buckets', async () => {
    const alias = 'c';
    const options = ['--config-dir', join(folder, 'mc'), '--json'];
    const child = spawn(tool('bin/mc', 'mc'), [...options, 'watch', alias], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      // The documents have several lines.
      const seen = () =>
        [...printed.matchAll(/"path":\s*"http:\/\/[^/]*([^"]*)",\s*"type":\s*"([^"]*)"/g)].map(
          ([, path, type]) => `${type} ${path}`,
        );
      const path = join(folder, 'watched.txt');
      await writeFile(path, 'text');
      await expect
        .poll(
          async () => {
            await mc.run('cp', path, `${alias}/events/w x`);
            return seen();
          },
          { timeout: 60_000, interval: 300 },
        )
        .toContain('s3:ObjectCreated:Put /events/w x');
      await mc.run('rm', `${alias}/events/w x`);
      await expect.poll(seen, { timeout: 10_000 }).toContain('s3:ObjectRemoved:Delete /events/w x');
    } finally {
      child.kill('SIGKILL');
    }
  });
});
