import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { z } from 'zod';
import { expect, it } from 'vitest';
import { describeIssues } from '../../keysvc/config/config-error.ts';
import type { KubeObject } from '../../operator/kube-client/kube-api.ts';
import { EventRecorder } from '../../operator/kube-client/events.ts';
import { redactLog } from '../../operator/plugin/collect-report.ts';
import { mergeConditions, notReady } from '../../operator/reconcile/conditions.ts';
import { createLogger } from '../../platform/output/logger.ts';
import { SettingReader } from '../../platform/settings/setting-source.ts';
import { setting } from '../../protocol/settings/table.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { IdentityError } from '../../server/auth/identity-error.ts';
import { type FinishedRequest, RequestEvents } from '../../server/http/contract/request.ts';
import { environmentSubsystems, environmentText } from '../../server/admin/config-text.ts';
import { shownHeaders } from '../../server/admin/streams/trace-line.ts';
import { readBackgroundTasks, TaskReport } from '../../server/maintenance/background-tasks.ts';
import { auditEntry } from '../../server/observability/audit/audit-entry.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import type { Diagnostics } from '../../server/administration/diagnostics.ts';
import { adminTest } from '../support/admin/admin.ts';
import { TestBrowser, TestConsole } from '../support/console/test-console.ts';

/** One secret in each place of an address. */
const secret = 'hunter2hunter2hunter2';
const addresses = [
  `https://ann:${secret}@hooks.example:8443/x`,
  `https://${secret}@hooks.example:8443/x`,
  `https://hooks.example:8443/x?k=${secret}&v=1`,
  `https://hooks.example:8443/x?${secret}`,
];
/** A path may be a key, too. Texts may name objects, so that only settings are searched for it. */
const ofSettings = [...addresses, `https://hooks.example:8443/services/T0/${secret}`];

const failureOf = (address: string) => new Error(`the target "${address}" answered 500 (${address}).`);

async function logged(address: string): Promise<string> {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  const log = createLogger({ name: 'test', stream });
  log.warn({ err: failureOf(address), endpoint: address, nested: { list: [address] } }, `asked ${address}`);
  log.child({ target: address }).warn('a child');
  await new Promise((resolve) => stream.end(resolve));
  return text;
}

const given = (value: string) =>
  new Map([['SVC_AUDIT_WEBHOOK_ENDPOINT', { variable: 'SVC_AUDIT_WEBHOOK_ENDPOINT', value }]]);

const host = {
  drive: [],
  network: { name: 'eth0', counters: [] },
  memory: { total: 100, free: 20, available: 40 },
  cpus: 2,
  load: [],
  cpuTimes: { user: 1, nice: 0, system: 2, idle: 3, irq: 0 },
};
/** A report needs nothing else of the machine. */
const diagnostics = { host: () => Promise.resolve(host) } as unknown as Diagnostics;

async function report(value: string): Promise<string> {
  const admin = await adminTest({ services: { given: given(value), diagnostics } });
  return (
    await admin.call('root', 'GET', 'healthinfo?minioconfig=true&minioinfo=true&syserrors=true')
  ).bytes.toString();
}

async function exported(value: string): Promise<string> {
  const admin = await adminTest({ services: { given: given(value) } });
  const { bytes } = await admin.call('root', 'GET', 'get-config-kv?key=audit_webhook');
  return bytes.toString() + environmentSubsystems.map((one) => environmentText(one, given(value))).join('\n');
}

function refusedSetting(value: string): Promise<string> {
  const variables = new Map([
    ['SVC_API_SELECT_PROCESSOR_TIME', value],
    ['SVC_BROWSER_REDIRECT_URL', value.replace('https', 'gopher')],
  ]);
  const reader = new SettingReader({ variables, readFile: () => '' });
  for (const name of variables.keys()) reader.read(setting(name));
  return Promise.resolve(reader.problems.join('\n'));
}

async function taskFailure(address: string): Promise<string> {
  const records = new MemoryRecordStore();
  const tasks = new TaskReport({ records, random: randomBytes });
  await tasks.run('scrub', 1, () => Promise.reject(failureOf(address))).catch(() => undefined);
  return JSON.stringify(await readBackgroundTasks(records));
}

/** Batch jobs stand for the calls whose rules know addresses: their error is the answer of the admin API. */
async function adminError(address: string): Promise<string> {
  const backgroundTasks = () => Promise.reject(new IdentityError('no-such-user', failureOf(address).message));
  const admin = await adminTest({ services: { backgroundTasks, diagnostics } });
  return (await admin.call('root', 'GET', 'healthinfo?syserrors=true')).bytes.toString();
}

async function consoleError(address: string): Promise<string> {
  const events = new RequestEvents();
  const told: FinishedRequest[] = [];
  events.subscribe((finished) => told.push(finished));
  const console = await TestConsole.start({ events });
  Object.assign(console.stores.layer, {
    createBucket: () => Promise.reject(new S3Error('InvalidArgument', failureOf(address).message)),
  });
  const browser = new TestBrowser(console.url);
  await browser.signIn();
  const answer = await browser.send('POST', '/api/buckets', { json: { name: 'photos' } });
  const text = await answer.text();
  await console.close();
  expect(text).toContain('answered 500');
  return text + JSON.stringify(told.map((one) => auditEntry(one, { deploymentId: 'D', rootUser: 'root' }).error));
}

function traced(address: string): Promise<string> {
  return Promise.resolve(JSON.stringify(shownHeaders({ referer: address, 'x-minio-source': address })));
}

function condition(address: string): Promise<string> {
  const update = notReady('TargetFails', failureOf(address).message);
  return Promise.resolve(JSON.stringify(mergeConditions([], [update], 1, new Date())));
}

async function kubeEvent(address: string): Promise<string> {
  const created: KubeObject[] = [];
  const recorder = new EventRecorder({
    api: {
      create: (object) => {
        created.push(object);
        return Promise.resolve(object);
      },
      patch: () => Promise.reject(new Error('no event is changed')),
    },
    now: () => new Date(),
    instance: 'operator-0',
    failed: () => undefined,
  });
  const regarding = { apiVersion: 'coffer.dev/v1alpha1', kind: 'Tenant', metadata: { name: 'demo', namespace: 'red' } };
  recorder.record({ regarding, type: 'Warning', reason: 'Failed', message: failureOf(address).message });
  await recorder.flush();
  return JSON.stringify(created);
}

function ofKeyService(address: string): Promise<string> {
  const input = { endpoint: [address] };
  const { error } = z.object({ endpoint: z.array(z.string().max(3)) }).safeParse(input);
  return Promise.resolve(error === undefined ? '' : describeIssues(error, input));
}

it.each([
  ['a log', logged, addresses],
  ['the report of the health', report, ofSettings],
  ['an export of settings', exported, ofSettings],
  ['the message of a setting that is refused', refusedSetting, ofSettings],
  ['the state of a background task', taskFailure, addresses],
  ['an error of the admin API', adminError, addresses],
  ['an error of the console, and its audit entry', consoleError, addresses],
  ['the headers of a trace', traced, addresses],
  ['a condition of a resource', condition, addresses],
  ['an event of Kubernetes', kubeEvent, addresses],
  ['a setting of the key service', ofKeyService, addresses],
  ['a report of the operator', (address: string) => Promise.resolve(redactLog(failureOf(address).message)), addresses],
] as const)('%s shows the host of an address, and no secret in it', async (_, output, given) => {
  for (const address of given) {
    const text = await output(address);
    expect(text).toContain('hooks.example:8443');
    expect(text).not.toContain(secret);
  }
});
