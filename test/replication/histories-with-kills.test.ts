import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClientDriver } from '../cli/client-driver.ts';
import { freePort } from '../support/process/free-port.ts';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type CutLink, startCutLink } from '../support/server/cut-link.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { replicate, sideOf, versionedBucket } from './replicated-buckets.ts';
import { seed } from '../support/seed.ts';

const histories = Number(process.env['COFFER_HISTORIES'] ?? 1);
const stepsOfHistory = 25;
const hour = 3_600_000;

/** A server process that is killed and started again at the same address, and the link by which the other one reaches it. */
class KilledServer {
  readonly #folder: string;
  readonly #port: number;
  readonly link: CutLink;
  #server: RunningServer;
  #client: S3Client;
  kills = 0;

  private constructor(folder: string, port: number, link: CutLink, server: RunningServer) {
    this.#folder = folder;
    this.#port = port;
    this.link = link;
    this.#server = server;
    this.#client = s3Client(server);
  }

  static async start(folder: string): Promise<KilledServer> {
    const port = await freePort();
    const server = await started(folder, port);
    return new KilledServer(folder, port, await startCutLink(server.s3), server);
  }

  get running(): RunningServer {
    return this.#server;
  }

  get client(): S3Client {
    return this.#client;
  }

  async kill(): Promise<void> {
    this.kills += 1;
    await this.#server.kill();
    this.#server = await started(this.#folder, this.#port);
    this.#client = s3Client(this.#server);
  }

  async close(): Promise<void> {
    await Promise.all([this.#server.stop(), this.link.close()]);
  }
}

async function started(folder: string, port: number): Promise<RunningServer> {
  const server = await startServer({ folder, args: ['--address', `127.0.0.1:${port}`] });
  await untilReady(server, 120_000);
  return server;
}

const cli = new ClientDriver();
let folder: string;
let servers: readonly KilledServer[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-histories-'));
  servers = await Promise.all(['left', 'right'].map((name) => KilledServer.start(join(folder, name))));
  const [left, right] = servers;
  if (left === undefined || right === undefined) throw new Error('no servers');
  await cli.start(() => Promise.resolve({ ...left.running, url: left.running.s3, stop: () => Promise.resolve() }));
  for (const [name, { running }] of [
    ['left', left],
    ['right', right],
  ] as const) {
    const input = `${running.accessKey}\n${running.secretKey}\n`;
    expect(await cli.attemptWith({ input }, 'alias', 'set', name, running.s3)).toMatchObject({ code: 0 });
  }
}, 180_000);

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await cli.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Version {
  readonly Key: string;
  readonly VersionId: string;
}

/** The locks that a server has confirmed. */
interface Locks {
  until: number;
  isHeld: boolean;
}

async function run(Bucket: string, random: SeededRandom): Promise<void> {
  const [left, right] = servers;
  if (left === undefined || right === undefined) throw new Error('no servers');
  await Promise.all(servers.map(({ client }) => versionedBucket(client, Bucket, true)));
  await replicate(sideOf(left.running), Bucket, { ...sideOf(right.running), s3: right.link.url });
  await replicate(sideOf(right.running), Bucket, { ...sideOf(left.running), s3: left.link.url });
  const free: Version[] = [];
  const locked = new Map<string, Version & Locks>();
  const pick = <Item>(items: readonly Item[]) => items[random.between(0, items.length - 1)];
  const change = async ({ client }: KilledServer): Promise<void> => {
    // A version with a lock is not removed: the other side may refuse that for good.
    const mayLock = random.between(0, 1) === 1;
    const Key = mayLock ? 'locked' : `key-${random.between(0, 2)}`;
    const version = pick(mayLock ? [...locked.values()] : free);
    const kind = random.between(0, 6);
    if (kind < 2 || version === undefined) {
      const Body = random.bytes(random.between(1, 300_000));
      const { VersionId = '' } = await client.send(new PutObjectCommand({ Bucket, Key, Body }));
      if (mayLock) locked.set(VersionId, { Key, VersionId, until: 0, isHeld: false });
      else free.push({ Key, VersionId });
      return;
    }
    const { VersionId } = version;
    const ref = { Bucket, Key: version.Key, VersionId };
    const lock = locked.get(VersionId);
    if (kind === 2) {
      await client.send(
        new PutObjectTaggingCommand({ ...ref, Tagging: { TagSet: [{ Key: 'k', Value: `${random.between(0, 9)}` }] } }),
      );
    } else if (kind === 3) {
      const CopySource = `/${Bucket}/${version.Key}?versionId=${VersionId}`;
      const Metadata = { changed: `${random.between(0, 9)}` };
      await client.send(
        new CopyObjectCommand({ Bucket, Key: version.Key, CopySource, MetadataDirective: 'REPLACE', Metadata }),
      );
    } else if (lock === undefined) {
      await client.send(new DeleteObjectCommand(kind === 4 ? { Bucket, Key: version.Key } : ref));
    } else if (kind === 4) {
      await client.send(new PutObjectLegalHoldCommand({ ...ref, LegalHold: { Status: 'ON' } }));
      lock.isHeld = true;
    } else {
      const until = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + random.between(1, 5) * hour);
      const Retention = { Mode: 'COMPLIANCE', RetainUntilDate: until } as const;
      await client.send(new PutObjectRetentionCommand({ ...ref, Retention }));
      lock.until = Math.max(lock.until, until.getTime());
    }
  };
  for (let step = 0; step < stepsOfHistory; step += 1) {
    const server = pick(servers) ?? left;
    const kind = random.between(0, 11);
    if (kind === 0) server.link.cut();
    else if (kind === 1) server.link.heal();
    else if (kind === 2) {
      // The outcome of a change at the moment of the kill is not known.
      const changes = [change(server), change(server)].map((one) => one.catch(() => undefined));
      await server.kill();
      await Promise.all(changes);
    } else await change(server).catch(refused);
  }
  for (const { link } of servers) link.heal();
  const wait = { timeout: 180_000, interval: 500 };
  for (const [from, to] of [
    ['left', 'right'],
    ['right', 'left'],
  ] as const) {
    const verify = async () => {
      const { code, stdout } = await cli.attempt('replicate', 'verify', `${from}/${Bucket}`, `${to}/${Bucket}`);
      return `${code} ${stdout.toString('utf8')}`;
    };
    await expect.poll(verify, wait).toMatch(/^0 Nothing is missing/);
  }
  for (const { until, isHeld, ...version } of locked.values()) {
    for (const { client } of servers) {
      const ref = { Bucket, ...version };
      if (isHeld) expect((await client.send(new GetObjectLegalHoldCommand(ref))).LegalHold?.Status).toBe('ON');
      if (until === 0) continue;
      const { Retention } = await client.send(new GetObjectRetentionCommand(ref));
      expect(Retention?.RetainUntilDate?.getTime()).toBeGreaterThanOrEqual(until);
    }
  }
}

/** A server refuses what the other one has not sent yet, and a shorter COMPLIANCE. */
function refused(error: unknown): void {
  const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
  if (status === undefined || status >= 500) throw error;
}

it(
  'two servers that are killed, with links that are cut, are equal afterwards, and keep every lock that they confirmed',
  { timeout: 120_000 + histories * 240_000 },
  async () => {
    for (let at = 0; at < histories; at += 1) await run(`history-${at}`, new SeededRandom(seed + at));
    const kills = servers.reduce((sum, server) => sum + server.kills, 0);
    report(`${histories} histories of two servers with ${kills} kills: equal afterwards, and every lock kept`);
  },
);
