import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseReplication } from '../../protocol/s3/bucket-replication.ts';
import { parseLifecycle } from '../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import { readEditable, textAt } from '../../protocol/s3/xml-edit.ts';
import {
  encryptionDocuments,
  objectLockDocuments,
  publicAccessBlockDocuments,
  taggingDocuments,
  versioningDocuments,
} from '../support/s3-documents/bucket-settings.ts';
import { corsDocuments } from '../support/s3-documents/cors.ts';
import { lifecycleDocuments } from '../support/s3-documents/lifecycle.ts';
import { notificationDocuments } from '../support/s3-documents/notification.ts';
import { bucketPolicies } from '../support/s3-documents/policy.ts';
import { replicationDocuments, replicationTargets } from '../support/s3-documents/replication.ts';
import { websiteDocuments } from '../support/s3-documents/website.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { ClientDriver } from './client-driver.ts';

const client = new ClientDriver();
let server: RunningServer;
/** The ARNs of the remote targets of the bucket. */
let targets: readonly string[];

const webhook = (id: string) => ({ [`SVC_NOTIFY_WEBHOOK_ENDPOINT_${id}`]: 'http://127.0.0.1:9/' });

beforeAll(async () => {
  const env = {
    SVC_KMS_SECRET_KEY: `photos:${Buffer.alloc(32, 1).toString('base64')}`,
    ...webhook('A'),
    ...webhook('B'),
    ...webhook('C'),
    ...webhook('OWN'),
  };
  server = await startServer({ env });
  await untilReady(server);
  await client.start(() =>
    Promise.resolve({ ...server, url: server.s3, stop: async () => void (await server.stop()) }),
  );
  await client.run('mb', '--with-lock', 's/locked');
  for (const bucket of ['kept', 'photos', 'backup', 'own', 'cold'])
    await client.run('mb', '--with-versioning', `s/${bucket}`);
  const keys = ['--access-key', server.accessKey, '--secret-key', server.secretKey];
  for (const tier of ['COLD', 'GLACIER']) {
    await client.attempt(
      'ilm',
      'tier',
      'add',
      'minio',
      's',
      tier,
      '--endpoint',
      server.s3,
      ...keys,
      '--bucket',
      'cold',
      '--prefix',
      tier,
    );
  }
  for (const [index, bucket] of ['photos', 'backup'].entries()) {
    await client.attempt('replicate', 'add', 's/kept', '--remote-bucket', remote(bucket), '--priority', String(index));
  }
  const { value } = await adminCall(server.s3, server, 'GET', 'list-remote-targets?bucket=kept&type=');
  targets = (value as readonly { readonly arn: string }[]).map(({ arn }) => arn);
  expect(targets).toHaveLength(2);
}, 360_000);

afterAll(() => client.stop());

function remote(bucket: string): string {
  const url = new URL(bucket, server.s3);
  url.username = server.accessKey;
  url.password = server.secretKey;
  return url.href;
}

async function read(bucket: string, setting: string): Promise<string> {
  const { value } = await adminCall(server.s3, server, 'GET', `/${bucket}?${setting}=`);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Stores documents one after the other, and checks each. The samples of a seed are the same in every run. */
async function each(
  [bucket, setting]: readonly [bucket: string, setting: string],
  documents: fc.Arbitrary<string>,
  check: (before: string) => Promise<void>,
): Promise<void> {
  let checked = 0;
  for (const document of fc.sample(documents, { numRuns: 20, seed: 41 })) {
    const stored = await adminCall(server.s3, server, 'PUT', `/${bucket}?${setting}=`, Buffer.from(document));
    // The generator of policies does not know which conditions a request can have.
    if (String(stored.value).includes('<Code>MalformedPolicy</Code>')) continue;
    checked += 1;
    expect([stored.value, stored.status < 300], document).toEqual([undefined, true]);
    await check(await read(bucket, setting));
  }
  expect(checked).toBeGreaterThan(5);
}

const firstId = (document: string) => {
  const rule = readEditable(document).children.find(({ name }) => name === 'Rule');
  return (rule && textAt(rule, ['ID'])) ?? '';
};
const idOf = async (...args: string[]) =>
  String((await client.json(...args)).find(({ id }) => typeof id === 'string')?.['id']);

const lifecycles = lifecycleDocuments.map((document) => document.replaceAll('a&lt;b', 'COLD'));
/** With the targets that the bucket has. A role that names the target of all rules becomes a target of each rule with the next rule. */
const replications = replicationDocuments
  .filter((document) => !document.includes('<Role>arn:minio'))
  .map((document) =>
    replicationTargets.reduce(
      (text, arn, index) => text.replaceAll(arn, () => targets[index] ?? ''),
      // A Coffer as the target takes no other class.
      document.replaceAll(/(?<=<StorageClass>)\w+/g, 'REDUCED_REDUNDANCY'),
    ),
  );
const webhooks: Readonly<Record<string, string>> = { 'a:webhook': 'A', 'b:kafka': 'B', 'a:nats': 'C' };
const notifications = notificationDocuments.map((document) =>
  document.replaceAll(
    /arn:(?:minio|coffer):sqs:[\w-]*:(\w+:\w+)/g,
    (_, target: string) => `arn:minio:sqs::${webhooks[target]}:webhook`,
  ),
);

/** A bucket without settings is in no archive. */
const holding = (documents: fc.Arbitrary<string>, element: string) =>
  documents.filter((document) => document.includes(`<${element}>`));
const archived: Readonly<Record<string, fc.Arbitrary<string>>> = {
  lifecycle: lifecycles,
  notification: holding(notifications, 'QueueConfiguration'),
  cors: corsDocuments,
  website: websiteDocuments,
  encryption: encryptionDocuments.map((document) => document.replaceAll('a-key', 'photos')),
  versioning: holding(versioningDocuments, 'Status'),
  tagging: holding(taggingDocuments, 'Tag'),
  publicAccessBlock: publicAccessBlockDocuments,
};

/** The rules as the server takes them. An empty prefix of the older form is none. */
const meaningOf = (document: string) =>
  parseLifecycle(document).map(({ filter: { deprecated: _older, prefix = '', ...filter }, ...rule }) => ({
    ...rule,
    filter: { ...filter, prefix },
  }));

describe('a document of a bucket is the same again', { timeout: 720_000 }, () => {
  it('after a rule of the lifecycle was edited in nothing, and another one was added and removed', async () => {
    await each(['kept', 'lifecycle'], lifecycles, async (before) => {
      await client.run('ilm', 'rule', 'edit', `--id=${firstId(before)}`, 's/kept');
      expect(await read('kept', 'lifecycle')).toBe(before);
      const id = await idOf('ilm', 'rule', 'add', '--expire-days', '3', '--prefix', 'own/', 's/kept');
      expect(await read('kept', 'lifecycle')).not.toBe(before);
      await client.run('ilm', 'rule', 'rm', '--id', id, 's/kept');
      expect(await read('kept', 'lifecycle')).toBe(before);
    });
  });

  it('after its lifecycle was exported and imported', async () => {
    await each(['kept', 'lifecycle'], lifecycles, async (before) => {
      const exported = await client.run('ilm', 'rule', 'export', 's/kept');
      await client.run('ilm', 'rule', 'rm', '--all', '--force', 's/kept');
      const { code, stderr } = await client.attemptWith({ input: exported }, 'ilm', 'rule', 'import', 's/kept');
      expect([code, stderr]).toEqual([0, '']);
      expect(meaningOf(await read('kept', 'lifecycle'))).toEqual(meaningOf(before));
    });
  });

  it('after a rule of the replication was edited in nothing, and another one was added and removed', async () => {
    await each(['kept', 'replication'], replications, async (before) => {
      await client.run('replicate', 'update', `--id=${firstId(before)}`, 's/kept');
      expect(await read('kept', 'replication')).toBe(before);
      const place = ['--remote-bucket', remote('own'), '--priority', '999'];
      const id = await idOf('replicate', 'add', 's/kept', ...place);
      expect(await read('kept', 'replication')).not.toBe(before);
      await client.run('replicate', 'rm', '--id', id, 's/kept');
      expect(await read('kept', 'replication')).toBe(before);
    });
  });

  it('after its replication was exported and imported', async () => {
    await each(['kept', 'replication'], replications, async (before) => {
      const exported = await client.run('replicate', 'export', 's/kept');
      const { code, stderr } = await client.attemptWith({ input: exported }, 'replicate', 'import', 's/kept');
      expect([code, stderr]).toEqual([0, '']);
      expect(parseReplication(await read('kept', 'replication'))).toEqual(parseReplication(before));
    });
  });

  it('after a rule of the notifications was added and removed', async () => {
    await each(['kept', 'notification'], notifications, async (before) => {
      const rule = ['s/kept', 'arn:minio:sqs::OWN:webhook', '--event', 'put', '--prefix', 'own/'];
      await client.run('event', 'add', ...rule);
      expect(await read('kept', 'notification')).not.toBe(before);
      await client.run('event', 'rm', ...rule);
      expect(await read('kept', 'notification')).toBe(before);
    });
  });

  it('after a prefix was opened to all and closed', async () => {
    const policies = bucketPolicies('kept').filter((policy) => Array.isArray((JSON.parse(policy) as Policy).Statement));
    await each(['kept', 'policy'], policies, async (before) => {
      await client.attempt('anonymous', 'set', 'download', 's/kept/own/');
      expect(await read('kept', 'policy')).not.toBe(before);
      await client.attempt('anonymous', 'set', 'private', 's/kept/own/');
      expect(JSON.parse(await read('kept', 'policy'))).toEqual(JSON.parse(before));
    });
  });

  it('after its default encryption was set to what it is', async () => {
    const documents = encryptionDocuments.map((document) => document.replaceAll('a-key', 'photos'));
    await each(['kept', 'encryption'], documents, async (before) => {
      const rule = ['Rule', 'ApplyServerSideEncryptionByDefault'];
      const [algorithm, key] = ['SSEAlgorithm', 'KMSMasterKeyID'].map((name) =>
        textAt(readEditable(before), [...rule, name]),
      );
      if (algorithm === undefined) return;
      const words = algorithm === 'AES256' ? ['sse-s3'] : ['sse-kms', ...(key === undefined ? [] : [key])];
      await client.run('encrypt', 'set', ...words, 's/kept');
      expect(await read('kept', 'encryption')).toBe(before);
    });
  });

  it('after versions were enabled as they are', async () => {
    const enabled = versioningDocuments.filter((document) => document.includes('>Enabled<'));
    await each(['photos', 'versioning'], enabled, async (before) => {
      await client.run('version', 'enable', 's/photos');
      expect(await read('photos', 'versioning')).toBe(before);
    });
  });

  it('after its default retention was set to what it is', async () => {
    await each(['locked', 'object-lock'], objectLockDocuments, async (before) => {
      const of = (name: string) => textAt(readEditable(before), ['Rule', 'DefaultRetention', name]);
      const [mode, days, years] = [of('Mode'), of('Days'), of('Years')];
      if (mode === undefined) return;
      const validity = days === undefined ? `${years}y` : `${days}d`;
      await client.run('retention', 'set', '--default', mode, validity, 's/locked');
      expect(await read('locked', 'object-lock')).toBe(before);
    });
  });
});

interface Policy {
  readonly Statement: unknown;
}

describe('a bucket that comes out of an archive has the same document', { timeout: 720_000 }, () => {
  it.each(Object.entries(archived))('%s', async (setting, documents) => {
    const file = client.path('bucket.zip');
    await client.run('mb', 's/moved');
    await each(['moved', setting], documents, async (before) => {
      await client.run('admin', 'cluster', 'bucket', 'export', 's/moved', '--output', file);
      await client.run('rb', 's/moved');
      await client.run('admin', 'cluster', 'bucket', 'import', 's/moved', file);
      expect(await read('moved', setting)).toBe(before);
    });
    await client.run('rb', 's/moved');
  });
});

describe('the quota of a bucket on another server', () => {
  const stub = new ClientDriver();
  /** The fields of a server that this program does not know. */
  const stored = { quota: 1_000, size: 0, rate: 7, requests: 8, quotatype: 'hard', later: { deep: [1] } };
  let written: unknown;

  beforeAll(async () => {
    const other = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.method === 'PUT') written = JSON.parse(body);
        if (request.url?.includes('?location') === true)
          return response.end(
            '<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>',
          );
        return response.setHeader('content-type', 'application/json').end(JSON.stringify(stored));
      });
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const stop = () => new Promise<void>((resolve) => void other.close(() => resolve()));
    await stub.start(() =>
      Promise.resolve({ url: `http://127.0.0.1:${port}`, accessKey: 'root', secretKey: 'root-secret', stop }),
    );
  });
  afterAll(() => stub.stop());

  it.each([
    [['set', 's/kept', '--size', '2KiB'], { quota: 2_048 }],
    [['clear', 's/kept'], { quota: 0 }],
  ])('keeps everything else after quota %s', async (words, change) => {
    await stub.run('quota', ...words);
    expect(written).toEqual({ ...stored, ...change });
  });
});

function containing(text: string): string {
  return expect.stringContaining(text) as string;
}

it('a target of a rule gets other keys, which are checked, and no other bucket', async () => {
  await client.run('mb', '--with-versioning', 's/moved');
  const id = await idOf('replicate', 'add', 's/moved', '--remote-bucket', remote('photos'));
  const update = (place: string) =>
    client.attempt('replicate', 'update', `--id=${id}`, 's/moved', '--remote-bucket', place);
  expect(await update(remote('photos'))).toMatchObject({ code: 0 });
  const wrong = remote('photos').replace(server.secretKey, 'another-secret-key');
  expect(await update(wrong)).toMatchObject({ code: 1, stderr: containing('Remote service connection error') });
  expect(await update(remote('own'))).toMatchObject({ code: 1, stderr: containing('Add a rule for that bucket') });
});
