import { describe, expect, it } from 'vitest';
import { changeAnonymousAccess } from '../../cli/commands/data/settings/anonymous-policy.ts';
import { editRule } from '../../cli/commands/lifecycle/rule-options.ts';
import { editReplicationRule, newReplicationRule } from '../../cli/commands/replication/rule-options.ts';
import {
  objectLockSetting,
  policySetting,
  versioningSetting,
  withDefaultRetention,
  withVersioning,
} from '../../cli/s3/bucket-settings.ts';
import { encryptionSetting, withDefaultEncryption } from '../../cli/s3/buckets.ts';
import type { S3Client, S3Request } from '../../cli/s3/client.ts';
import { editSetting, type BucketSetting } from '../../cli/s3/edit-setting.ts';
import { lifecycleSetting, withEditedRule, withoutRule, withRule } from '../../cli/s3/lifecycle-document.ts';
import { notificationSetting, withNotification, withoutNotification } from '../../cli/s3/notifications.ts';
import {
  replicationSetting,
  withEditedReplication,
  withoutReplication,
  withReplication,
} from '../../cli/s3/replication.ts';
import { ResponseError } from '../../protocol/response-error.ts';
import { testCalls, uncheckedReplications, type TestCalls } from '../support/s3-api/s3-calls.ts';

/** The client of the program over the S3 API of the server in this process. */
function clientOf({ call }: TestCalls): S3Client {
  const text = async ({ method, bucket = '', query = {}, headers, body }: S3Request) => {
    const target = `/${bucket}?${Object.keys(query).join('&')}`;
    const sent = body === undefined ? {} : { body: body as Buffer };
    const reply = await call(method, target, { headers: headers ?? {}, ...sent });
    if (reply.status < 300) return { headers: reply.headers, text: reply.body };
    const { status, code = '', refusal } = reply;
    const etag = reply.headers['etag'];
    throw new ResponseError(code, refusal, { status, fields: etag === undefined ? {} : { etag } });
  };
  return { text } as unknown as S3Client;
}

const rule = (id: string) => ({ ID: id, Status: 'Enabled', Expiration: { Days: 3 }, Filter: { Prefix: `${id}/` } });
const replication = (id: string, priority: number) => {
  const made = newReplicationRule({ priority: String(priority) }, `${id}/`);
  const Bucket = 'arn:minio:replication::6a9a8c5e-0c39-4b0b-9d58-1f8e2f0b8a11:b';
  return { ...made, ID: id, Destination: { Bucket } };
};
const event = (prefix: string) =>
  ({
    kind: 'sqs',
    id: '',
    arn: 'arn:minio:sqs::1:webhook',
    events: ['s3:ObjectCreated:Put'],
    prefix,
    suffix: '',
  }) as const;
const none = '<NotificationConfiguration/>';

type Edit = (document: string | undefined) => string | undefined;

/** The changes of two sessions at the same time, with the state before them and the state after them. */
const cases: readonly {
  readonly name: string;
  readonly setting: BucketSetting;
  readonly before?: Edit;
  readonly one: Edit;
  readonly other: Edit;
  readonly has: readonly string[];
  readonly hasNot?: readonly string[];
}[] = [
  {
    name: 'ilm rule add, in a bucket without rules',
    setting: lifecycleSetting,
    one: (document) => withRule(document, rule('one')),
    other: (document) => withRule(document, rule('other')),
    has: ['<ID>one</ID>', '<ID>other</ID>'],
  },
  {
    name: 'ilm rule edit and remove',
    setting: lifecycleSetting,
    before: (document) => withRule(withRule(document, rule('a')), rule('b')),
    one: (document = '') => withEditedRule(document, 'a', (one) => editRule(one, { expireDays: '77' }, '')),
    other: (document = '') => withoutRule(document, 'b')?.document,
    has: ['<Days>77</Days>'],
    hasNot: ['<ID>b</ID>'],
  },
  {
    name: 'event add and remove',
    setting: notificationSetting,
    before: (document = none) => withNotification(document, event('gone/')),
    one: (document = none) => withNotification(document, event('one/')),
    other: (document = none) => withoutNotification(document, event('gone/')),
    has: ['one/'],
    hasNot: ['gone/'],
  },
  {
    name: 'replicate add and update',
    setting: replicationSetting,
    before: (document) => withReplication(document, replication('a', 1)),
    one: (document) => withReplication(document, replication('one', 2)),
    other: (document = '') =>
      withEditedReplication(document, 'a', (one) => editReplicationRule(one, { state: 'disable' }, '')),
    has: ['<ID>one</ID>', '<Status>Disabled</Status>'],
  },
  {
    name: 'replicate remove and add',
    setting: replicationSetting,
    before: (document) => withReplication(withReplication(document, replication('a', 1)), replication('b', 2)),
    one: (document = '') => withoutReplication(document, 'a'),
    other: (document) => withReplication(document, replication('other', 3)),
    has: ['<ID>b</ID>', '<ID>other</ID>'],
    hasNot: ['<ID>a</ID>'],
  },
  {
    name: 'anonymous set',
    setting: policySetting,
    one: (document) => changeAnonymousAccess(document, 'bucket', { prefix: 'one/', permission: 'download' }),
    other: (document) => changeAnonymousAccess(document, 'bucket', { prefix: 'other/', permission: 'upload' }),
    has: ['bucket/one/*', 'bucket/other/*'],
  },
  {
    name: 'anonymous set, and a Deny of another administrator',
    setting: policySetting,
    one: (document) => changeAnonymousAccess(document, 'bucket', { prefix: '', permission: 'public' }),
    other: (document = '{"Version":"2012-10-17","Statement":[]}') => {
      const policy = JSON.parse(document) as { readonly Statement: readonly object[] };
      const deny = {
        Sid: 'no',
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:DeleteObject',
        Resource: 'arn:aws:s3:::bucket/*',
      };
      return JSON.stringify({ ...policy, Statement: [...policy.Statement, deny] });
    },
    has: ['"Sid":"no"', 's3:PutObject'],
  },
  {
    name: 'encrypt set, and a block of keys of clients',
    setting: encryptionSetting,
    one: (document) => withDefaultEncryption(document, { scheme: 'SSE-S3' }),
    other: (document = '<ServerSideEncryptionConfiguration><Rule></Rule></ServerSideEncryptionConfiguration>') =>
      document.replace(
        '</Rule>',
        '<BlockedEncryptionTypes><EncryptionType>SSE-C</EncryptionType></BlockedEncryptionTypes></Rule>',
      ),
    has: ['AES256', '<EncryptionType>SSE-C</EncryptionType>'],
  },
  {
    name: 'version enable, and prefixes that another administrator excludes',
    setting: versioningSetting,
    one: (document = '') => withVersioning(document, { status: 'Enabled' }),
    other: (document = '') => withVersioning(document, { status: 'Enabled', excludedPrefixes: ['tmp/'] }),
    has: ['<Status>Enabled</Status>', '<Prefix>tmp/</Prefix>'],
  },
];

describe('two sessions at the same time', () => {
  it.each(cases)('keep the changes of each other: $name', async ({ setting, before, one, other, has, hasNot = [] }) => {
    const test = await testCalls({ notificationTargets: ['1:webhook'], replications: uncheckedReplications });
    if (setting === replicationSetting) {
      const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
      await test.call('PUT', '/bucket?versioning', { body });
    }
    const client = clientOf(test);
    if (before !== undefined) await editSetting(client, 'bucket', setting, before);
    // Both sessions have read the setting before one of them writes it.
    const { promise: bothHaveRead, resolve } = Promise.withResolvers<void>();
    let read = 0;
    const meeting: S3Client = {
      text: async (request: S3Request) => {
        const answer = await client.text(request).catch((error: unknown) => ({ error }));
        if (request.method === 'GET') {
          read += 1;
          if (read === 2) resolve();
          await bothHaveRead;
        }
        if ('error' in answer) throw answer.error;
        return answer;
      },
    } as unknown as S3Client;
    await Promise.all([one, other].map((edit) => editSetting(meeting, 'bucket', setting, edit)));
    const { body } = await test.call('GET', `/bucket?${setting.name}`);
    for (const text of has) expect(body).toContain(text);
    for (const text of hasNot) expect(body).not.toContain(text);
  });

  it('end with an error, and no change, where others are always first', async () => {
    const test = await testCalls();
    const client = clientOf(test);
    let count = 0;
    const edit = (document: string | undefined) => {
      count += 1;
      return withRule(document, rule('late'));
    };
    const always: S3Client = {
      text: async (request: S3Request) => {
        const answer = await client.text(request).catch((error: unknown) => ({ error }));
        if (request.method === 'GET') {
          await editSetting(client, 'bucket', lifecycleSetting, (document) =>
            withRule(document, rule(`first-${count}`)),
          );
        }
        if ('error' in answer) throw answer.error;
        return answer;
      },
    } as unknown as S3Client;
    await expect(editSetting(always, 'bucket', lifecycleSetting, edit)).rejects.toThrow('5 times');
    expect((await test.call('GET', '/bucket?lifecycle')).body).not.toContain('<ID>late</ID>');
  });

  it('set a default retention on what the other one has set meanwhile', async () => {
    const test = await testCalls();
    const body = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
    await test.call('PUT', '/bucket?versioning', { body });
    const client = clientOf(test);
    const seen: (string | undefined)[] = [];
    await editSetting(client, 'bucket', objectLockSetting, (document) =>
      withDefaultRetention(document, { mode: 'GOVERNANCE', days: 1 }),
    );
    const late = {
      text: async (request: S3Request) => {
        const answer = await client.text(request);
        if (request.method === 'GET' && seen.length === 0) {
          await editSetting(client, 'bucket', objectLockSetting, (document) =>
            withDefaultRetention(document, { mode: 'COMPLIANCE', years: 2 }),
          );
        }
        return answer;
      },
    } as unknown as S3Client;
    await editSetting(late, 'bucket', objectLockSetting, (document) => {
      seen.push(document);
      return withDefaultRetention(document, { mode: 'GOVERNANCE', days: 7 });
    });
    // The command has seen what it replaces.
    expect(seen.map((document) => document?.includes('COMPLIANCE'))).toEqual([false, true]);
    const stored = (await test.call('GET', '/bucket?object-lock')).body;
    expect(stored).toContain('<Mode>GOVERNANCE</Mode><Days>7</Days>');
    expect(stored).not.toContain('Years');
  });

  it('send nothing where nothing changes', async () => {
    const test = await testCalls();
    const client = clientOf(test);
    await editSetting(client, 'bucket', lifecycleSetting, (document) => withRule(document, rule('a')));
    const sent: string[] = [];
    const counting = {
      text: (request: S3Request) => {
        sent.push(request.method);
        return client.text(request);
      },
    } as unknown as S3Client;
    await editSetting(counting, 'bucket', lifecycleSetting, (document) => document);
    expect(sent).toEqual(['GET']);
  });
});
