import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCa } from '../../platform/tls/issue-certificate.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { issue, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { startMinio, type RunningMinio } from '../support/server/start-minio.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { type Account, walkMadmin } from './admin-calls/walk-clients.ts';

// The calls about keys of the Terraform provider for MinIO, by the library that it uses: the resource of a key makes, looks at and removes it, and its data
// sources read the state, the version, the calls, the metrics and the keys of the key service. A MinIO and the server have a key service each.

interface OnKeys {
  readonly account: Account;
  readonly keys: KeysvcProcess;
  stop(): Promise<unknown>;
}

let folder: string;
let ours: OnKeys;
let theirs: OnKeys;

interface Files {
  readonly address: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

async function startOn(name: string, start: (files: Files) => Promise<RunningServer | RunningMinio>): Promise<OnKeys> {
  const place = join(folder, name);
  const ca = await makeCa({ commonName: name, validForMs: 3_600_000 });
  const app = await issue(ca, 'app');
  const [service, client] = await Promise.all([
    writePair(place, 'keys', await issue(ca, 'keys')),
    writePair(place, 'app', app),
  ]);
  const caFile = join(place, 'ca.crt');
  await writeFile(caFile, ca.certPem);
  const config = join(place, 'keysvc.yml');
  await writeFile(
    config,
    `
address: 127.0.0.1:0
root: disabled
tls: { key: ${service.keyFile}, cert: ${service.certFile}, ca: ${caFile} }
policy: { app: { allow: [/v1/*], identities: [${identityOfCertificate(app.certPem)}] } }
keys: [{ name: some-key }]
keystore: { fs: { path: ${join(place, 'keys')} } }
`,
  );
  const keys = await startKeysvc(['--config', config]);
  const server = await start({ address: `https://${keys.address}`, ...client, caFile });
  return {
    account: 's3' in server ? { ...server, url: server.s3 } : server,
    keys,
    stop: async () => Promise.all([server.stop(), keys.stop()]),
  };
}

const startOurs = (name: string) =>
  startOn(name, async ({ address, certFile, keyFile, caFile }) => {
    const server = await startServer({
      env: {
        SVC_KMS_KEYSVC_ENDPOINT: address,
        SVC_KMS_KEYSVC_KEY_NAME: 'some-key',
        SVC_KMS_KEYSVC_CERT_FILE: certFile,
        SVC_KMS_KEYSVC_KEY_FILE: keyFile,
        SVC_KMS_KEYSVC_CAPATH: caFile,
      },
    });
    await untilReady(server);
    return server;
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-terraform-keys-'));
  [ours, theirs] = await Promise.all([
    startOurs('coffer'),
    startOn('minio', ({ address, certFile, keyFile, caFile }) =>
      startMinio('127.0.0.1', {
        MINIO_KMS_KES_ENDPOINT: address,
        MINIO_KMS_KES_KEY_NAME: 'some-key',
        MINIO_KMS_KES_CERT_FILE: certFile,
        MINIO_KMS_KES_KEY_FILE: keyFile,
        MINIO_KMS_KES_CAPATH: caFile,
      }),
    ),
  ]);
}, 360_000);
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** What a call ends with, and what the library makes of its answer. */
async function called({ account }: OnKeys, call: string, key?: string): Promise<{ end: string; answer: unknown }> {
  const { results } = await walkMadmin(account, account, [call], key);
  const [result] = results;
  if (result === undefined) throw new Error(`there is no call ${call}`);
  return { end: result.end, answer: result.answer };
}

const both = async (call: string, key?: string) => {
  const [coffer, minio] = await Promise.all([called(ours, call, key), called(theirs, call, key)]);
  return { coffer, minio };
};

describe('the Terraform provider, of the keys of a key service,', { timeout: 360_000 }, () => {
  it('makes one, finds it well, and lists it, as at a MinIO', async () => {
    for (const [call, key] of [
      ['CreateKey', 'tf-key'],
      ['GetKeyStatus', 'tf-key'],
      ['ListKeys', undefined],
    ] as const) {
      const { coffer, minio } = await both(call, key);
      expect([coffer.end, minio.end], call).toEqual(['done', 'done']);
      expect(coffer.answer, call).toEqual(minio.answer);
    }
  });

  it('removes one, which a MinIO cannot, and finds an error of it afterwards', async () => {
    for (const call of ['CreateKey', 'DeleteKey'])
      expect(await called(ours, call, 'removed-key'), call).toMatchObject({ end: 'done' });
    const { end, answer } = await called(ours, 'ListKeys');
    const names = (answer as readonly { readonly name: string }[]).map(({ name }) => name);
    expect({ end, names }).toEqual({ end: 'done', names: expect.not.arrayContaining(['removed-key']) as unknown });
    expect(await called(ours, 'GetKeyStatus', 'removed-key')).toMatchObject({ end: 'done', answer: missing });
    // A key in use stays.
    expect(await called(ours, 'DeleteKey', 'some-key')).toMatchObject({ end: 'XCofferRefused' });
  });

  it('is refused a key that is there', async () => {
    const { coffer, minio } = await both('CreateKey', 'some-key');
    // A MinIO gives no reason.
    expect([coffer.end, minio.end]).toEqual(['XMinioKMSKeyExists', 'InternalError']);
  });

  it.each(['KMSStatus', 'KMSVersion', 'KMSAPIs', 'KMSMetrics'])(
    'reads by %s the fields that a MinIO has',
    async (call) => {
      const { coffer, minio } = await both(call);
      expect([coffer.end, minio.end]).toEqual(['done', 'done']);
      // A MinIO passes no response times on.
      const own =
        call === 'KMSMetrics' ? { ...(coffer.answer as object), kes_http_response_time: null } : coffer.answer;
      const other =
        call === 'KMSMetrics' ? { ...(minio.answer as object), kes_http_response_time: null } : minio.answer;
      expect(shapeOf(own)).toEqual(shapeOf(other));
    },
  );

  // The provider forgets a key whose status it cannot read, and makes it anew with its next run.
  it('finds a key that is missing to be an error of the key, and keeps it in its state', async () => {
    const never = await both('GetKeyStatus', 'never');
    expect([never.coffer.end, never.minio.end]).toEqual(['done', 'done']);
    expect([never.coffer.answer, never.minio.answer]).toMatchObject([missing, missing]);
  });

  it('finds an outage to be an error of the key, and keeps it in its state', async () => {
    const away = await startOurs('away');
    try {
      await away.keys.stop();
      expect(await called(away, 'GetKeyStatus', 'some-key')).toMatchObject({
        end: 'done',
        answer: { 'encryption-error': expect.stringContaining('the key service cannot use some-key now') as string },
      });
      const calls = [
        ['GET', 'key/list?pattern=*'],
        ['GET', 'version'],
        ['GET', 'apis'],
        ['GET', 'metrics'],
        ['POST', 'key/create?key-id=another'],
        ['DELETE', 'key/delete?key-id=some-key'],
      ] as const;
      const replies = await Promise.all(
        calls.map(([method, path]) => adminCall(away.account.url, away.account, method, `/minio/kms/v1/${path}`)),
      );
      expect(replies).toMatchObject(calls.map(() => ({ status: 503, value: { Code: 'KMSUnavailable' } })));
    } finally {
      await away.stop();
    }
  });
});

const missing = { 'encryption-error': expect.stringContaining('does not exist') as string };

/** The fields of an answer, with their kinds. The values differ, and so do addresses and bounds that are fields. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      /^https?:|^\d/.test(name) ? 'an address or a bound' : name,
      shapeOf(item),
    ]),
  );
}
