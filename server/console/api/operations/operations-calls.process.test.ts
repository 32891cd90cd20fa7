import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestBrowser, TestConsole } from '../../../../test/support/console/test-console.ts';
import type { TestLayer } from '../../../../test/support/objects/test-layer.ts';
import { pausableTasks, taskPauses } from '../../../maintenance/task-pauses.ts';
import { readTaskProgress } from '../../../maintenance/task-progress.ts';
import { encodeRecord, recordKeys } from '../../../objects/records/record-format.ts';
import type { BlobId } from '../../../store/blob-store.ts';
import { commitOnce } from '../../../store/commits.ts';
import { readBackgroundTasks, TaskReport } from '../../../maintenance/background-tasks.ts';
import type { ErrorAnswer, SessionAnswer } from '../../../../protocol/console/answers.ts';
import type {
  AuditAnswer,
  HealthAnswer,
  SessionList,
  WorkAnswer,
} from '../../../../protocol/console/operations-answers.ts';
import type { OperationsServices } from '../../services.ts';

let folder: string;
let console: TestConsole;
let root: TestBrowser;

const entry = (id: string, who: string) =>
  JSON.stringify({
    time: '2026-01-01T00:00:00.000Z',
    requestID: id,
    remotehost: '192.0.2.1',
    identity: { kind: 'user', name: who },
    api: { name: 'GetObject', bucket: 'photos', object: 'a', statusCode: 200 },
    decisions: [{ action: 's3:GetObject', resource: 'photos/a', effect: 'allow', reason: 'readonly #0' }],
  });

function operationsOf({ records }: TestLayer): OperationsServices {
  return {
    history: { read: () => Promise.resolve({ stepMs: 10_000, servers: ['a'], points: [] }) },
    usageHistory: {
      read: () =>
        Promise.resolve([
          { day: '2026-01-01', objects: 3, bytes: 30, buckets: [{ bucket: 'other', objects: 3, bytes: 30 }] },
          {
            day: '2026-01-02',
            objects: 4,
            bytes: 40,
            buckets: [
              { bucket: 'other', objects: 3, bytes: 30 },
              { bucket: 'photos', objects: 1, bytes: 10 },
            ],
          },
        ]),
    },
    facts: () =>
      Promise.resolve({
        now: 0,
        version: '1',
        servers: [{ endpoint: 'a', version: '1' }],
        readOnly: false,
        space: undefined,
        quarantined: 0,
        keyService: 'disabled',
        providers: [],
        directory: 'disabled',
        notifications: [],
        replication: [],
        tasks: [],
        certificates: [],
        audit: { targets: [] },
      }),
    auditFile: join(folder, 'audit.log'),
    tasks: () => readBackgroundTasks(records),
    progress: () => readTaskProgress(records),
    pauses: taskPauses(records, { random: randomBytes }),
    pausable: pausableTasks,
  };
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operations-'));
  console = await TestConsole.start({ operations: operationsOf });
  root = new TestBrowser(console.url);
  await root.signIn();
});

afterEach(async () => {
  await console.close();
  await rm(folder, { recursive: true });
});

const json = async <Answer>(response: Response) => (await response.json()) as Answer;
const get = async <Answer>(path: string) => json<Answer>(await root.send('GET', `/api${path}`));

const list = async (query = '') => (await get<SessionList>(`/sessions${query}`)).sessions;
const pause = async (task: string, minutes: number) =>
  (await root.send('PUT', '/api/work/pause', { json: { task, minutes } })).status;

async function userWith(...actions: readonly (string | object)[]): Promise<TestBrowser> {
  const document = JSON.stringify({
    Version: '2012-10-17',
    Statement: actions.map((action) => (typeof action === 'string' ? { Effect: 'Allow', Action: action } : action)),
  });
  if (actions.length > 0) await root.send('PUT', '/api/policy?name=some', { json: { document } });
  const policies = actions.length > 0 ? ['some'] : ['readwrite'];
  await root.send('POST', '/api/users', { json: { name: 'ann', secretKey: 'ann-secret', policies } });
  const browser = new TestBrowser(console.url);
  await browser.signIn({ accessKey: 'ann', secretKey: 'ann-secret' });
  return browser;
}

describe('the calls about operations', () => {
  it.each([
    ['GET', '/health', 'admin:ServerInfo'],
    ['GET', '/metrics', 'admin:Prometheus'],
    ['GET', '/usage-history', 'admin:DataUsageInfo'],
    ['GET', '/audit', 'admin:ReadAuditLog'],
    ['GET', '/work', 'admin:ServerInfo'],
    ['PUT', '/work/pause', 'admin:PauseBackgroundTask'],
    ['GET', '/sessions', 'admin:ListSessions'],
    ['DELETE', '/sessions?id=x', 'admin:RevokeSession'],
    ['GET', '/admin/info', 'admin:ServerInfo'],
    ['GET', '/admin/trace?s3=true', 'admin:ServerTrace'],
    ['GET', '/admin/log', 'admin:ConsoleLog'],
    ['GET', '/admin/kms/status', 'kms:Status'],
    ['PUT', '/admin/set-config-kv', 'admin:ConfigUpdate'],
    ['POST', '/admin/coffer/snapshot?name=x', 'admin:SnapshotStore'],
    ['POST', '/admin/service?action=restart', 'admin:ServiceRestart'],
    ['GET', '/admin/coffer/batch-jobs', 'admin:ListBatchJobs'],
    ['GET', '/admin/describe-job?jobId=x', 'admin:DescribeBatchJob'],
    ['POST', '/admin/start-job', 'admin:StartBatchJob'],
    ['DELETE', '/admin/cancel-job?id=x', 'admin:CancelBatchJob'],
    ['GET', '/admin/coffer/notifications/held?target=A:webhook', 'admin:ListHeldEvents'],
    ['POST', '/admin/coffer/notifications/held/retry?target=A:webhook&all=true', 'admin:RetryHeldEvents'],
    ['POST', '/admin/coffer/notifications/held/drop?target=A:webhook&all=true', 'admin:DropHeldEvents'],
    ['GET', '/admin/tier', 'admin:ListTier'],
    ['GET', '/admin/tier-stats', 'admin:ListTier'],
    ['GET', '/admin/tier/COLD', 'admin:ListTier'],
    ['PUT', '/admin/tier', 'admin:SetTier'],
    ['POST', '/admin/tier/COLD', 'admin:SetTier'],
    ['DELETE', '/admin/tier/COLD', 'admin:SetTier'],
    ['GET', '/admin/export-iam', 'admin:ExportIAM'],
  ])('%s %s need a right, which the refusal names', async (method, path, action) => {
    const ann = await userWith();
    const response = await ann.send(method, `/api${path}`);
    const { code, message } = await json<ErrorAnswer>(response);
    expect([response.status, code]).toEqual([403, 'AccessDenied']);
    expect(message).toContain(action);
  });

  it('tell the health of each part', async () => {
    const { checks } = await get<HealthAnswer>('/health');
    expect(checks).toContainEqual({ part: 'servers', state: 'good', words: 'One server answers, version 1.' });
  });

  it('show the growth of a bucket to those who may list it', async () => {
    const rows = [{ day: '2026-01-02', objects: 1, bytes: 10 }];
    expect(await get('/buckets/photos/growth')).toEqual({ days: rows });
    const ann = await userWith('admin:ServerInfo');
    const rejected = await ann.send('GET', '/api/buckets/photos/growth');
    expect([rejected.status, (await json<ErrorAnswer>(rejected)).message]).toEqual([
      403,
      expect.stringContaining('s3:ListBucket') as string,
    ]);
  });

  it('refuse a chart that is too long', async () => {
    expect((await root.send('GET', '/api/metrics?minutes=100000')).status).toBe(400);
  });

  it('search the audit file', async () => {
    await writeFile(join(folder, 'audit.log'), `${entry('1', 'ann')}\n${entry('2', 'bob')}\n`);
    const found = await get<AuditAnswer>('/audit?who=ANN&decision=allow');
    expect(found).toMatchObject({ kind: 'found', entries: [{ id: '1', who: 'ann', bucket: 'photos', status: 200 }] });
  });

  it('pause a task for a time, and end the pause', async () => {
    const tasks = new TaskReport({ records: console.stores.records, random: randomBytes });
    await tasks.run('usage', 0, () => Promise.resolve());
    await tasks.run('removals', 0, () => Promise.resolve());
    expect(await pause('usage', 5)).toBe(204);
    const [removals, usage] = (await get<WorkAnswer>('/work')).tasks;
    expect(removals).toMatchObject({ task: 'removals', pausable: false });
    expect(Date.parse(usage?.pausedUntil ?? '')).toBeGreaterThan(Date.now());
    expect(await pause('usage', 0)).toBe(204);
    expect((await get<WorkAnswer>('/work')).tasks[1]).not.toHaveProperty('pausedUntil');
    expect(await pause('removals', 5)).toBe(400);
    expect(await pause('usage', 100_000)).toBe(400);
  });

  it('say how far a task is', async () => {
    const { records } = console.stores;
    await new TaskReport({ records, random: randomBytes }).run('removals', 0, () => Promise.resolve());
    const put = [{ key: recordKeys.removal('a-blob' as BlobId), value: encodeRecord({ queued: 1_000 }) }];
    await commitOnce(records, { put }, randomBytes);
    const removals = (await get<WorkAnswer>('/work')).tasks.find(({ task }) => task === 'removals');
    const oldest = '1970-01-01T00:00:01.000Z';
    expect(removals?.progress).toEqual({ kind: 'queue', waiting: 1, more: false, oldest });
  });
});

describe('calls of the admin API by a session', () => {
  it('are offered for a right to keys under either of its names', async () => {
    const ann = await userWith('kms:ListKeys', 'admin:KMSCreateKey');
    const { may } = await json<SessionAnswer>(await ann.send('GET', '/api/session'));
    expect(may.all).toEqual(['admin:KMSListKeys', 'admin:KMSCreateKey']);
  });

  it('are offered for a right to keys that a Deny takes away for one key', async () => {
    const deny = { Effect: 'Deny', Action: 'kms:*', Resource: 'arn:minio:kms:::master' };
    const ann = await userWith('admin:KMSRotateKey', 'admin:KMSListKeys', deny);
    const { may } = await json<SessionAnswer>(await ann.send('GET', '/api/session'));
    expect(may.all).toEqual(expect.arrayContaining(['admin:KMSListKeys', 'admin:KMSRotateKey']));
  });

  it('answer as the admin API does', async () => {
    const answer = await root.send('GET', '/api/admin/info');
    expect(await json(answer)).toMatchObject({ mode: 'online', deploymentID: 'D' });
  });

  it('have plain documents, since the page has no secret key', async () => {
    const text = await (await root.send('GET', '/api/admin/get-config-kv?key=identity_ldap')).text();
    expect(text).toContain('identity_ldap');
  });

  it('are refused without the header of the console, reads too', async () => {
    const cookie = `coffer_session=${root.cookie('coffer_session')}`;
    const response = await fetch(`${console.url}/api/admin/info`, { headers: { cookie } });
    expect(await json<ErrorAnswer>(response)).toMatchObject({ code: 'CrossSiteRequest' });
  });

  it.each(['add-user', 'set-user-status', '../info', 'coffer/', 'update-service-account'])(
    'do not include %s',
    async (name) => {
      const response = await root.send('GET', `/api/admin/${encodeURIComponent(name)}`);
      expect(response.status).toBe(404);
    },
  );
});

describe('sessions', () => {
  it('are listed with their person, and end by an administrator', async () => {
    const ann = await userWith('admin:GetUser');
    const [found] = await list('?contains=ANN');
    expect(found).toMatchObject({ name: 'ann', accessKey: 'ann', signedInBy: { kind: 'keys' }, own: false });
    expect((await root.send('DELETE', `/api/sessions?id=${found?.id}`)).status).toBe(204);
    expect((await ann.send('GET', '/api/session')).status).toBe(401);
    expect((await list()).map(({ name, own }) => [name, own])).toEqual([['root', true]]);
  });

  it('of root are ended by root alone', async () => {
    const ann = await userWith('admin:*');
    const [own] = (await list()).filter(({ name }) => name === 'root');
    expect((await ann.send('DELETE', `/api/sessions?id=${own?.id}`)).status).toBe(403);
    expect((await root.send('GET', '/api/session')).status).toBe(200);
  });

  it('that do not exist are not found', async () => {
    expect((await root.send('DELETE', '/api/sessions?id=none')).status).toBe(404);
  });
});
