import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KeyService, startKeyService } from '../support/server/keysvc-process.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, type RunningServer } from '../support/server/start-server.ts';
import { RealVault } from './real-vault.ts';

/** Milliseconds for which a fault lasts: the caches of the key service and several attempts of clients end within it. */
const faultMs = 4_000;
const key = 'main-key';

let vault: RealVault;

beforeAll(async () => {
  vault = await RealVault.start();
  await vault.initialise();
}, 360_000);
afterAll(() => vault?.stop());

type Version = 'v1' | 'v2';

const recordPath = (version: Version) => (version === 'v1' ? `kv/coffer/${key}` : `kv/data/coffer/${key}`);

/** The policy for one key, without a right to list or to read another record. */
const oneKey = (version: Version) =>
  ({
    [recordPath(version)]: ['create', 'read'],
    'transit/encrypt/master': ['update'],
    'transit/decrypt/master': ['update'],
  }) as const;

/** A fault of the vault, which ends, and what clients are told meanwhile. */
type Fault = readonly [
  name: string,
  told: 'nothing' | '503',
  begin: (version: Version) => Promise<() => Promise<void>>,
];

const faults: readonly Fault[] = [
  [
    'it is sealed',
    '503',
    async () => {
      await vault.seal();
      return () => vault.unseal();
    },
  ],
  [
    'its tokens are revoked',
    'nothing',
    async () => {
      await vault.revokeTokens();
      return () => Promise.resolve();
    },
  ],
  [
    'its policy is taken away',
    '503',
    async (version) => {
      await vault.setRules({ 'kv/none': ['read'] });
      return () => vault.setRules(oneKey(version));
    },
  ],
  [
    'its engine is disabled, and comes back with its records',
    '503',
    async (version) => {
      const kept = await vault.must('GET', recordPath(version));
      await vault.must('DELETE', 'sys/mounts/kv');
      return async () => {
        await vault.mount(version, 'restored');
        const beside = recordPath(version).replace('kv/', 'restored/');
        await vault.must('POST', beside, version === 'v1' ? kept : { data: kept['data'] });
        await vault.move('restored', 'kv');
      };
    },
  ],
  [
    'an empty engine is in the place of its own',
    '503',
    async (version) => {
      // It says in the words of a vault that there is no key.
      await vault.move('kv', 'kept');
      await vault.mount(version);
      return async () => {
        await vault.must('DELETE', 'sys/mounts/kv');
        await vault.move('kept', 'kv');
      };
    },
  ],
  [
    'it is restarted empty, and again with what it had',
    '503',
    async () => {
      await vault.restartEmpty();
      return () => vault.restartWhole();
    },
  ],
];

interface Outcomes {
  readonly final: string[];
  readonly wrong: string[];
  passing: number;
  good: number;
}

/** Puts and gets objects under the key until the signal, and counts what the client is told. */
async function load(s3: S3Client, written: Map<string, string>, outcomes: Outcomes, signal: AbortSignal) {
  for (let number = 0; !signal.aborted; number += 1) {
    const [name, body] = [`object-${written.size}-${number}`, `body ${number} `.repeat(100)];
    await outcome(outcomes, async () => {
      const sealed = { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: key } as const;
      // Each has a context of its own, so that no data key is in memory.
      const context = Buffer.from(JSON.stringify({ number: String(number) })).toString('base64');
      const at = { Bucket: 'bucket', Key: name };
      await s3.send(new PutObjectCommand({ ...at, ...sealed, SSEKMSEncryptionContext: context, Body: body }));
      written.set(name, digest(body));
    });
    const names = [...written.keys()];
    const known = names[number % Math.max(1, names.length)];
    if (known !== undefined) await outcome(outcomes, () => readBack(s3, known, written, outcomes));
    await sleep(20);
  }
}

async function readBack(s3: S3Client, name: string, written: Map<string, string>, { wrong }: Pick<Outcomes, 'wrong'>) {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key: name }));
  if (digest((await Body?.transformToString()) ?? '') !== written.get(name)) wrong.push(name);
}

async function outcome(outcomes: Outcomes, act: () => Promise<void>): Promise<void> {
  try {
    await act();
    outcomes.good += 1;
  } catch (error) {
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    const { httpStatusCode: status = 0 } = $metadata ?? {};
    if (status === 503) outcomes.passing += 1;
    else outcomes.final.push(`${status} ${name}: ${message}`);
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe.each([
  ['v1', ''],
  ['v2', ''],
  ['v2', 'transit: { engine: transit, key: master }'],
] as const)('a server under load, whose key is in a real vault: %s %s', (version, transit) => {
  let folder: string;
  let keys: KeyService;
  let server: RunningServer;
  let s3: S3Client;
  const written = new Map<string, string>();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coffer-vault-load-'));
    const { http } = await vault.emptied(version);
    await http.close();
    if (transit !== '') await vault.must('POST', 'sys/mounts/transit', { type: 'transit' });
    if (transit !== '') await vault.must('POST', 'transit/keys/master', {});
    await vault.setRules(oneKey(version));
    const { roleId, secretId } = await vault.appRole({});
    keys = await startKeyService(folder, {
      keystore: `{ vault: { endpoint: "${vault.endpoint}", engine: kv, version: ${version}, prefix: coffer, tls: { ca: ${vault.caFile} }, approle: { id: "${roleId}", secret: "\${SECRET_ID}" }${transit === '' ? '' : `, ${transit}`} } }`,
      // Short, so that each fault is met by the store and not by the cache.
      cache: '{ any: 500ms, unused: 500ms, offline: 0s }',
      environment: { SECRET_ID: secretId },
    });
    server = await startServer({ env: keys.env });
    s3 = s3Client(server);
    while ((await fetch(`${server.s3}/minio/health/ready`)).status !== 200) await sleep(50);
    await s3.send(new CreateBucketCommand({ Bucket: 'bucket' }));
  }, 360_000);
  afterAll(async () => {
    await server?.stop();
    await keys?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(faults)(
    'loses nothing and refuses nothing for good while %s',
    async (_, told, begin) => {
      const outcomes: Outcomes = { final: [], wrong: [], passing: 0, good: 0 };
      const ended = new AbortController();
      const loads = Array.from({ length: 4 }, () => load(s3, written, outcomes, ended.signal));
      try {
        await sleep(1_000);
        const end = await begin(version);
        await sleep(faultMs);
        // The retries of the server hide a fault that few requests meet. It lasts until a client is told.
        if (told === '503') await expect.poll(() => outcomes.passing, { timeout: 180_000 }).toBeGreaterThan(0);
        await end();
        // It serves again without a restart.
        const { good } = outcomes;
        await expect.poll(() => outcomes.good - good, { timeout: 180_000 }).toBeGreaterThan(40);
      } finally {
        ended.abort();
        await Promise.all(loads);
      }
      for (const name of written.keys()) await readBack(s3, name, written, outcomes);
      expect({ final: outcomes.final.slice(0, 5), wrong: outcomes.wrong.slice(0, 5) }).toEqual({
        final: [],
        wrong: [],
      });
      expect(outcomes.passing > 0).toBe(told === '503');
      // The one key that was made at the start.
      expect(keys.lines.filter(({ msg }) => String(msg).endsWith('created'))).toHaveLength(1);
    },
    180_000,
  );
});
