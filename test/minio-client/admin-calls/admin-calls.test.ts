import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningMinio, startMinio } from '../../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../../support/server/start-server.ts';
import { adminTable, offeredCalls } from './admin-table.ts';
import { absentFields, type Client, differentEnds, differentValues } from './differences.ts';
import {
  type Account,
  prepare,
  type Result,
  type Walked,
  walkMadmin,
  walkMc,
  walkMinioJava,
  walkMinioPy,
} from './walk-clients.ts';

/** Where the table is for people. `COFFER_WRITE_TABLE=1` writes it. */
const page = new URL('../../../docs/admin-clients.md', import.meta.url);

let folder: string;
let coffer: RunningServer;
let minio: RunningMinio;
let ours: Readonly<Record<Client, Walked>>;
let theirs: Readonly<Record<Client, Walked>>;

async function walkAll(account: Account, target: Account): Promise<Readonly<Record<Client, Walked>>> {
  await prepare(account);
  return {
    'madmin-go': await walkMadmin(account, target),
    'minio-py': await walkMinioPy(account),
    'minio-java': await walkMinioJava(account),
    mc: await walkMc(folder, account, target),
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-admin-calls-'));
  const env = { SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` };
  [coffer, minio] = await Promise.all([startServer({ env }), startMinio(undefined, undefined, 4)]);
  await untilReady(coffer);
  const account = { ...coffer, url: coffer.s3 };
  [ours, theirs] = await Promise.all([walkAll(account, minio), walkAll(minio, account)]);
}, 900_000);
afterAll(async () => {
  await Promise.all([coffer?.stop(), minio?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** Set the client itself, or would end the server: the tests of the service have those by `mc`. */
const notWalked: Readonly<Record<Client, readonly string[]>> = {
  'madmin-go': [
    'CredContext',
    'ExecuteMethod',
    'GetAccessAndSecretKey',
    'GetEndpointURL',
    'SetAppInfo',
    'SetCustomTransport',
    'TraceOff',
    'TraceOn',
  ],
  'minio-py': ['service_restart', 'service_stop', 'set_app_info', 'trace_off', 'trace_on', 'update'],
  'minio-java': ['builder', 'ignoreCertCheck', 'setAppInfo', 'setTimeout', 'traceOff', 'traceOn'],
  mc: [],
};

const clients: readonly Client[] = ['mc', 'minio-py', 'minio-java', 'madmin-go'];
const methodOf = ({ call }: Result) => call.split(/:| of | again| with | to | at /)[0] ?? '';

describe.each(clients)('the administrators of %s', (client) => {
  const pairs = () =>
    ours[client].results.map((result, at) => {
      const other = theirs[client].results[at];
      if (other === undefined) throw new Error(`the other server was not asked for ${result.call}`);
      return [result, { ...other, answer: withoutSpeedTest(other.answer) }] as const;
    });

  it('makes each call that it has', () => {
    const called = new Set(ours[client].results.map(methodOf));
    expect(ours[client].methods.filter((name) => !called.has(name))).toEqual(notWalked[client]);
  });

  it('ends each call as with a MinIO', () => {
    const different = pairs().filter(([result, other]) => {
      if (result.end === other.end) return false;
      const known = differentEnds.find(({ calls }) => calls.test(result.call));
      return known === undefined || !known.ours.test(result.end);
    });
    expect(different.map(([result, other]) => [result.call, result.end, other.end])).toEqual([]);
  });

  it('reads what a MinIO has', () => {
    const missing = pairs().flatMap(([result, other]) => {
      if (result.end !== 'done' || other.end !== 'done') return [];
      const places = placesOf(result.answer);
      const known = absentFields.filter(
        ({ calls, unless }) =>
          calls.test(result.call) && !(unless !== undefined && [...places].some((place) => unless.test(place))),
      );
      return [...placesOf(other.answer)]
        .filter((place) => !places.has(place) && !known.some(({ fields }) => fields.test(place)))
        .map((place) => `${result.call}: ${place}`);
    });
    expect(missing).toEqual([]);
  });

  it('reads the values that a MinIO has', () => {
    const different = pairs().flatMap(([result, other]) => {
      if (result.end !== 'done' || other.end !== 'done') return [];
      const known = differentValues.filter(({ calls }) => calls.test(result.call));
      const theirValues = valuesOf(other.answer);
      return [...valuesOf(result.answer)]
        .filter(([place, values]) => {
          const others = theirValues.get(place);
          return (
            others !== undefined &&
            !isDeepStrictEqual(values, others) &&
            !known.some(({ fields }) => fields.test(place))
          );
        })
        .map(([place, values]) => [result.call, place, values, theirValues.get(place)]);
    });
    expect(different).toEqual([]);
  });
});

it('minio-py reads secrets that the server made, and what it gave', () => {
  const answers = new Map(ours['minio-py'].results.map(({ call, answer }) => [call, answer]));
  const made = answers.get('add_service_account with a policy') as { readonly credentials: { secretKey: string } };
  expect(made.credentials.secretKey.length).toBeGreaterThanOrEqual(20);
  expect(answers.get('user_list')).toMatchObject({ ann: { status: 'enabled' } });
  expect(answers.get('get_service_account')).toMatchObject({ parentUser: expect.any(String), accountStatus: 'on' });
  expect(answers.get('get_policy_entities')).toMatchObject({ userMappings: [{ user: 'ann' }] });
  expect(answers.get('config_get')).toContain('api');
});

/** Only clients of other days make them. */
const unasked = ['POST /minio/kms/v1/status'];

it('each admin call of MinIO that the server offers is made by a client, and the table of them is the documented one', async () => {
  const calls = offeredCalls(clients.map((client) => [client, ours[client].results] as const));
  expect(calls.filter(({ by }) => by.size === 0).map(({ name }) => name)).toEqual(unasked);
  const table = adminTable(calls);
  if (process.env['COFFER_WRITE_TABLE'] === '1') await writeFile(page, table);
  expect(await readFile(page, 'utf8')).toBe(table);
});

/** The places of fields that are not empty. */
function placesOf(answer: unknown): ReadonlySet<string> {
  return new Set(valuesOf(answer).keys());
}

const moment = /^\d{4}-\d{2}-\d{2}T/;

/** What an answer has besides the bucket of MinIO's speed test, which a MinIO removes some time after the test. */
function withoutSpeedTest(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.filter((part) => !isOfSpeedTest(part)).map(withoutSpeedTest);
  if (typeof answer !== 'object' || answer === null) return answer;
  const parts = Object.entries(answer).filter(([name]) => !isOfSpeedTest(name));
  return Object.fromEntries(parts.map(([name, part]) => [name, withoutSpeedTest(part)]));
}

const speedTestBucket = 'minio-perf-test-tmp-bucket';
const isOfSpeedTest = (part: unknown): boolean =>
  part === speedTestBucket ||
  (typeof part === 'object' && part !== null && Object.values(part).includes(speedTestBucket));

/** The values that are not empty, by place: without moments, and without numbers of lists, addresses and made-up names. */
function valuesOf(answer: unknown): ReadonlyMap<string, ReadonlySet<unknown>> {
  const found = new Map<string, Set<unknown>>();
  const walk = (value: unknown, place: string): void => {
    if (value === 0 || value === '' || value === false || value === null || value === undefined) return;
    if (typeof value !== 'object') {
      const isMoment = typeof value === 'string' && moment.test(value);
      found.set(place, (found.get(place) ?? new Set()).add(isMoment ? 'a moment' : value));
      return;
    }
    for (const [name, part] of Object.entries(value)) {
      const isMadeUp =
        Array.isArray(value) || /[:/]|^(?:minio-)?root$|^[0-9a-f-]{36}$|^[0-9A-Z]{20}$|^127\./.test(name);
      const step = isMadeUp ? '*' : name;
      walk(part, place === '' ? step : `${place}.${step}`);
    }
  };
  walk(answer, '');
  return found;
}
