import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutBucketInventoryConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketLoggingCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commitOnce } from '../../server/store/commits.ts';
import { decodeKey } from '../../server/store/keys.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import type { Key } from '../../server/store/record-store.ts';
import { storeToolHere } from '../store-tool/run-store-tool.ts';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';

// Each kind of record that a server writes, with a value that is damaged inside its page: structure and counts of the records are whole.

/** Kinds that servers make anew by themselves, or that a moment has, and counters, which any eight bytes are. */
const unseen = new Set([
  'hold',
  'live',
  'outbox-dropped',
  'outbox-held-count',
  'promotions',
  'quota',
  'quota-parts',
  'usage asked',
  'usage progress',
]);

interface Row {
  readonly key: Key;
  readonly value: Buffer;
}

const envOf = (name: 'plain' | 'sealed'): Readonly<Record<string, string>> =>
  name === 'plain' ? {} : { SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` };

let base: Awaited<ReturnType<typeof temporaryFolder>>;
const folders = { plain: '', sealed: '' };
const rows: Record<keyof typeof folders, readonly Row[]> = { plain: [], sealed: [] };

beforeAll(async () => {
  base = await temporaryFolder();
  for (const name of ['plain', 'sealed'] as const) {
    folders[name] = join(base.path, name);
    await fill(folders[name], envOf(name));
    rows[name] = await rowsOf(folders[name]);
  }
}, 360_000);
afterAll(() => base.remove());

/** Has a server write a record of each kind that holds what cannot be made anew. */
async function fill(folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  const server = await startServer({ folder, env });
  await untilReady(server);
  const s3 = s3Client(server);
  const Bucket = 'bucket';
  try {
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
    for (const [Key, size] of [
      ['a', 100],
      ['a', 200],
      ['b', 200_000],
      ['c', 6_000_000],
    ] as const)
      await s3.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(size) }));
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'open' }));
    await s3.send(new UploadPartCommand({ Bucket, Key: 'open', UploadId, PartNumber: 1, Body: 'part' }));
    const statement = { Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/*' };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...statement, Principal: '*' }] });
    await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    const Rules = [{ ID: 'r', Status: 'Enabled', Filter: { Prefix: 'tmp/' }, Expiration: { Days: 1 } } as const];
    await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
    const LoggingEnabled = { TargetBucket: Bucket, TargetPrefix: 'logs/' };
    await s3.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: { LoggingEnabled } }));
    const InventoryConfiguration = {
      Id: 'i',
      IsEnabled: true,
      IncludedObjectVersions: 'All',
      Schedule: { Frequency: 'Daily' },
      Destination: { S3BucketDestination: { Bucket: 'arn:aws:s3:::bucket', Format: 'CSV' } },
    } as const;
    await s3.send(new PutBucketInventoryConfigurationCommand({ Bucket, Id: 'i', InventoryConfiguration }));
    const policy = Buffer.from(JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
    for (const [path, sent] of [
      ['add-user?accessKey=ann', { secretKey: 'ann-password', status: 'enabled' }],
      ['add-canned-policy?name=readers', policy],
      ['set-user-or-group-policy?policyName=readers&userOrGroup=ann&isGroup=false', undefined],
      ['add-service-account', { accessKey: 'service-key', secretKey: 'service-secret' }],
    ] as const)
      expect((await adminCall(server.s3, server, 'PUT', path, sent)).status, path).toBeLessThan(300);
  } finally {
    s3.destroy();
    await server.stop();
  }
}

async function withRecords<T>(folder: string, work: (records: ReturnType<typeof openLmdbRecordStore>) => Promise<T>) {
  const records = openLmdbRecordStore({ folder: join(folder, 'records') });
  try {
    return await work(records);
  } finally {
    await records.close();
  }
}

const rowsOf = (folder: string): Promise<readonly Row[]> =>
  withRecords(folder, async (records) => {
    const found: Row[] = [];
    for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.alloc(1_901, 0xff) }))
      if (item.kind === 'entry') found.push({ key: item.key, value: item.value });
    return found;
  });

const kindOf = ({ key }: Row): string => {
  const [first, second] = decodeKey(key).map(String);
  return ['k', 's', 'system', 'usage'].includes(first ?? '') ? `${first} ${second}` : String(first);
};

const write = (folder: string, { key, value }: Row) =>
  withRecords(folder, (records) => commitOnce(records, { put: [{ key, value }] }, randomBytes));

const verify = async (folder: string) => {
  const { code, stdout, stderr } = await storeToolHere(['verify', folder, '--quick', '--grace', '0']);
  return { code, said: stdout + stderr };
};

describe.each(['plain', 'sealed'] as const)('the records of a store whose settings are %s', (name) => {
  it('are told by verify, of each kind, where a value is damaged', { timeout: 900_000 }, async () => {
    const folder = folders[name];
    expect(await verify(folder)).toMatchObject({ code: 0 });
    const kinds = Map.groupBy(rows[name], kindOf);
    // Without them the table would say nothing.
    expect([...kinds.keys()]).toEqual(
      expect.arrayContaining([
        'access-log',
        'b',
        'background',
        'i',
        'inventory',
        'l',
        'o',
        'p',
        'r',
        's iam',
        'system deployment',
        'u',
        'v',
      ]),
    );
    let told = 0;
    for (const [kind, all] of kinds) {
      if (unseen.has(kind)) continue;
      for (const row of all.slice(0, inFullForm(20, 1))) {
        const { value } = row;
        const ways = {
          empty: Buffer.alloc(0),
          zeroed: Buffer.alloc(Math.max(1, value.length)),
          // A sealed value opens only with its key.
          ...(kind !== 's iam' || name === 'plain' ? { cut: value.subarray(0, value.length >> 1) } : {}),
        };
        for (const [way, damaged] of Object.entries(ways)) {
          await write(folder, { ...row, value: damaged });
          const { code, said } = await verify(folder);
          const what = `${kind} ${JSON.stringify(row.key.toString('latin1'))} ${way}\n${said}`;
          expect(code, what).toBe(1);
          expect(said, what).not.toContain('nothing is wrong');
          expect(said, what).not.toMatch(/\n\s+at /);
          told += 1;
          await write(folder, row);
        }
      }
    }
    expect(await verify(folder)).toMatchObject({ code: 0 });
    report(`${told} damaged values of ${kinds.size} kinds of records are told by verify (${name})`);
  });
});

describe('a server whose records are damaged', () => {
  it.each([
    ['the deployment', 'plain', 'system deployment'],
    ['the key of identities and settings', 'sealed', 'k backend'],
  ] as const)('says in a sentence that the record of %s is damaged', { timeout: 360_000 }, async (_, name, kind) => {
    const row = rows[name].find((one) => kindOf(one) === kind);
    if (row === undefined) throw new Error(`there is no record of ${kind}`);
    const folder = folders[name];
    const env = envOf(name);
    await write(folder, { ...row, value: row.value.subarray(0, row.value.length >> 1) });
    const words = 'is damaged';
    const said = await startServer({ folder, env }).then(
      async (server) => {
        try {
          return await server.untilLogged(words);
        } finally {
          await server.kill();
        }
      },
      // A server may end before it listens.
      (error: unknown) => (error as Error).message,
    );
    await write(folder, row);
    expect(said).toMatch(/the record of the [^"]* is damaged[^"]*: restore the records from a snapshot or a backup/);
  });
});
