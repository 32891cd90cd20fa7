import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { adminTest } from '../../test/support/admin/admin.ts';
import { createBatchJobs } from '../maintenance/batch/batch-jobs.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';

const definition = 'expire:\n  apiVersion: v1\n  bucket: logs\n  rules:\n    - type: object # all\n';

async function batchAdmin() {
  const batchJobs = createBatchJobs({
    records: new MemoryRecordStore(),
    objects: { headBucket: (name) => Promise.resolve({ name, created: new Date(), location: '' }) },
    random: randomBytes,
    clock: () => Date.parse('2026-01-01T00:00:00Z'),
  });
  return adminTest({ services: { batchJobs }, now: new Date('2026-01-01T00:00:02Z') });
}

describe('mc batch', () => {
  it('starts, lists, describes and cancels a job', async () => {
    const { call } = await batchAdmin();
    const started = await call('root', 'POST', 'start-job', { plain: definition });
    const { id } = started.value as { readonly id: string };
    const job = { id, type: 'expire', user: 'root', started: '2026-01-01T00:00:00.000Z', elapsed: 2e9 };
    expect(started).toMatchObject({ status: 200, value: job });
    expect((await call('root', 'GET', 'list-jobs?jobType=')).value).toEqual({ jobs: [job] });
    expect((await call('root', 'GET', 'list-jobs?jobType=keyrotate')).value).toEqual({ jobs: [] });
    expect((await call('root', 'GET', `describe-job?jobId=${id}`)).bytes.toString()).toBe(definition);
    expect((await call('root', 'GET', `status-job?jobId=${id}`)).value).toMatchObject({
      LastMetric: { jobID: id, jobType: 'expire', complete: false, failed: false, expired: { objects: 0 } },
    });
    expect(await call('root', 'DELETE', `cancel-job?id=${id}`)).toMatchObject({ status: 204 });
    const gone = { status: 404, value: { Code: 'XMinioAdminNoSuchJob' } };
    expect(await call('root', 'GET', `describe-job?jobId=${id}`)).toMatchObject(gone);
    // A client of MinIO waits until the job is complete or has failed.
    expect((await call('root', 'GET', `status-job?jobId=${id}`)).value).toMatchObject({
      LastMetric: { jobID: id, complete: false, failed: true, cancelled: true },
    });
    expect((await call('root', 'GET', 'list-jobs?jobType=')).value).toEqual({ jobs: [] });
    const time = '2026-01-01T00:00:00.000Z';
    expect((await call('root', 'GET', '/minio/admin/coffer/v1/batch-jobs')).value).toMatchObject({
      jobs: [{ id, ended: time, cancelled: true, objects: 0 }],
    });
    expect(await call('root', 'DELETE', `cancel-job?id=${id}`)).toMatchObject(gone);
  });

  it('lists the jobs that are kept with their counts', async () => {
    const { call } = await batchAdmin();
    const { id } = (await call('root', 'POST', 'start-job', { plain: definition })).value as { readonly id: string };
    const time = '2026-01-01T00:00:00.000Z';
    const counts = { objects: 0, deleteMarkers: 0, failed: 0 };
    expect((await call('root', 'GET', '/minio/admin/coffer/v1/batch-jobs')).value).toEqual({
      jobs: [{ id, type: 'expire', bucket: 'logs', user: 'root', started: time, updated: time, ...counts }],
    });
  });

  it('refuses a wrong definition with the name of the field', async () => {
    const { call } = await batchAdmin();
    const plain = `${definition}      colour: red\n`;
    expect(await call('root', 'POST', 'start-job', { plain })).toMatchObject({
      status: 400,
      value: { Code: 'XMinioAdminInvalidArgument', Message: expect.stringContaining('colour') as string },
    });
  });

  it('needs a key service to rotate keys', async () => {
    const { call } = await batchAdmin();
    const plain = 'keyrotate: {apiVersion: v1, bucket: a, encryption: {type: sse-s3}}';
    expect(await call('root', 'POST', 'start-job', { plain })).toMatchObject({ value: { Code: 'KMSNotConfigured' } });
  });

  it.each([
    [['admin:StartBatchJob'], 'arn:aws:s3:::*', 403],
    [['admin:StartBatchJob', 's3:PutLifecycleConfiguration'], 'arn:aws:s3:::other', 403],
    [['admin:StartBatchJob', 's3:PutLifecycleConfiguration'], 'arn:aws:s3:::logs*', 403],
    [['admin:StartBatchJob', 's3:PutLifecycleConfiguration', 's3:DeleteObject'], 'arn:aws:s3:::logs*', 200],
  ])('expires no more than rules of the caller could: %j on %s: %i', async (Action, Resource, status) => {
    const { call, identities } = await batchAdmin();
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    const Statement = [{ Effect: 'Allow', Action, Resource }];
    await identities.putPolicy('some', JSON.stringify({ Version: '2012-10-17', Statement }));
    await identities.attach({ kind: 'user', name: 'ann' }, ['some']);
    expect(await call('ann', 'POST', 'start-job', { plain: definition })).toMatchObject({ status });
  });

  it.each([
    ['POST', 'start-job'],
    ['GET', 'list-jobs'],
    ['GET', '/minio/admin/coffer/v1/batch-jobs'],
    ['GET', 'status-job?jobId=a'],
    ['GET', 'describe-job?jobId=a'],
    ['DELETE', 'cancel-job?id=a'],
    ['GET', 'metrics?types=8'],
  ])('is for those with the right: %s %s', async (method, target) => {
    const { call, identities } = await batchAdmin();
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    expect(await call('ann', method, target, { plain: 'no YAML: [' })).toMatchObject({ status: 403 });
  });
});

const job = (source: string, target: string) =>
  `replicate: {apiVersion: v1, source: {bucket: ${source}}, target: {bucket: ${target}, prefix: in/}}`;
const there = 'x, endpoint: "http://h", credentials: {accessKey: a, secretKey: b}';
const sends = job('logs, prefix: in/', there);
const sendsToS3 = job('logs, prefix: in/', `${there}, type: s3`);
const fetches = job(there, 'logs');

async function startedBy(actions: readonly string[], given: string, denied?: object, keys = 'in/*') {
  const { call, identities } = await batchAdmin();
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  const Statement = [
    {
      Effect: 'Allow',
      Action: ['admin:StartBatchJob', ...actions],
      Resource: ['arn:aws:s3:::logs', `arn:aws:s3:::logs/${keys}`],
    },
    ...(denied === undefined ? [] : [{ Effect: 'Deny', Action: 's3:PutObject', ...denied }]),
  ];
  await identities.putPolicy('jobs', JSON.stringify({ Version: '2012-10-17', Statement }));
  await identities.attach({ kind: 'user', name: 'ann' }, ['jobs']);
  return call('ann', 'POST', 'start-job', { plain: given });
}
const rules = ['admin:SetBucketTarget', 's3:PutReplicationConfiguration'];
const writes = ['s3:PutObject', 's3:ReplicateObject', 's3:ReplicateDelete'];
const reads = [
  's3:GetObject',
  's3:GetObjectTagging',
  's3:GetObjectVersion',
  's3:GetObjectVersionTagging',
  's3:ListBucketVersions',
];

describe('the rights of a job that replicates', () => {
  it.each([
    ['nothing else', [], sends],
    ['no target', [...rules.slice(1), ...reads], sends],
    ['no rules', [...rules.slice(0, 1), ...reads], sends],
    ['rules without reads', rules, sends],
    ...reads.map((one): [string, string[], string] => [
      `no ${one}`,
      [...rules, ...reads.filter((other) => other !== one)],
      sends,
    ]),
    ['rules without writes', rules, fetches],
    ['no deletions', [...rules, ...writes.slice(0, 2)], fetches],
  ])('are not had by a caller with %s', async (_what, actions, given) => {
    expect(await startedBy(actions, given)).toMatchObject({ status: 403 });
  });

  it.each([
    ['some of its objects', { Resource: 'arn:aws:s3:::logs/in/locked/*' }],
    ['one object', { Resource: 'arn:aws:s3:::logs/in/a' }],
    ['objects by a wildcard', { Resource: 'arn:aws:s3:::logs/*.key' }],
    ['objects whose names have one character', { Resource: 'arn:aws:s3:::logs/in/?' }],
    ['objects whose names begin with any character', { Resource: 'arn:aws:s3:::logs/in/?*' }],
    ['objects with a tag', { Resource: '*', Condition: { StringEquals: { 's3:ExistingObjectTag/kept': 'yes' } } }],
    [
      'objects with a tag that they bring along',
      { Resource: '*', Condition: { StringEquals: { 's3:RequestObjectTag/a': 'b' } } },
    ],
    ['all but others', { NotResource: 'arn:aws:s3:::logs/in/open/*' }],
  ])('are not had by a caller whom a statement denies %s', async (_what, denied) => {
    expect(await startedBy([...rules, ...writes], fetches, denied)).toMatchObject({ status: 403 });
  });

  // The resource `logs/in/*` as a text matches these patterns, and the objects below `logs/in/` do not.
  it.each(['in/?', '*/?', 'in/${*}'])('are not had by a caller who may write logs/%s alone', async (keys) => {
    expect(await startedBy([...rules, ...writes], fetches, undefined, keys)).toMatchObject({ status: 403 });
  });

  it.each(['*', 'i*', '*/*', '?n/*', '*in/*'])('are had by a caller who may write logs/%s', async (keys) => {
    expect(await startedBy([...rules, ...writes], fetches, undefined, keys)).toMatchObject({ status: 400 });
  });

  it.each(reads.slice(0, 4))('are not had by a caller whom a statement denies %s of one object', async (Action) => {
    const denied = { Action, Resource: 'arn:aws:s3:::logs/in/secret' };
    expect(await startedBy([...rules, ...reads], sends, denied)).toMatchObject({ status: 403 });
    const elsewhere = { Action, Resource: 'arn:aws:s3:::logs/out/secret' };
    expect(await startedBy([...rules, ...reads], sends, elsewhere)).toMatchObject({ status: 400 });
  });

  it('are had by a caller whom a statement denies what is elsewhere', async () => {
    const denied = { Resource: ['arn:aws:s3:::logs/out/*', 'arn:aws:s3:::other/in/*'] };
    expect(await startedBy([...rules, ...writes], fetches, denied)).toMatchObject({ status: 400 });
  });

  it.each([
    ['sends', [...rules, ...reads], sends],
    ['sends to an S3, which gets the current versions', [...rules, ...reads.slice(0, 2)], sendsToS3],
    ['fetches', [...rules, ...writes], fetches],
  ])('are had by one who may set it up by hand: it %s', async (_what, actions, given) => {
    // The server of the test has no connections to others.
    expect(await startedBy(actions, given)).toMatchObject({
      status: 400,
      value: { Message: 'this server runs no jobs that replicate' },
    });
  });
});
