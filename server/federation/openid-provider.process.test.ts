import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { ReconnectingProvider } from './openid-provider.ts';

let folder: string;
let caFile: string;
let ca: string;
let otherCa: string;
let double: OpenIdProviderDouble;
let lines: string[] = [];

const validForMs = 3_600_000;
const say = (_fields: object, message: string) => void lines.push(message);
const log = { info: say, warn: say, error: say };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-provider-ca-'));
  caFile = join(folder, 'ca.pem');
  const [one, other] = await Promise.all(['one', 'other'].map((commonName) => makeCa({ commonName, validForMs })));
  if (one === undefined || other === undefined) throw new Error('there are two');
  [ca, otherCa] = [one.certPem, other.certPem];
  const { certPem, keyPem } = await issueCertificate({
    commonName: 'idp',
    ipAddresses: ['127.0.0.1'],
    validForMs,
    issuer: one,
  });
  double = await startOpenIdProvider({ tls: { cert: certPem, key: keyPem } });
});
afterAll(async () => {
  await double.close();
  await rm(folder, { recursive: true });
});

function provider(
  changes: Partial<OpenIdProviderSettings>,
  retryDelay: (attempt: number) => number = () => 60_000,
): ReconnectingProvider {
  lines = [];
  const settings = {
    id: 'P',
    enabled: true,
    configUrl: double.configUrl,
    clientId: 'coffer',
    scopes: [],
    claimName: 'policy',
    claimUserinfo: false,
    rolePolicy: [],
    redirectUriDynamic: false,
    realm: 'demo',
    ...changes,
  };
  return new ReconnectingProvider(settings, { region: '', log, retryDelay });
}

/** Whether the provider is reached now. */
const reached = (one: ReconnectingProvider) =>
  one.fetch(double.configUrl).then(
    ({ status }) => status,
    () => 'refused',
  );

it('waits longer after each attempt in a row that failed', async () => {
  const attempts: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const one = provider({ ca: otherCa }, (attempt) => {
    attempts.push(attempt);
    if (attempts.length === 3) resolve();
    return attempts.length < 3 ? 0 : 60_000;
  });
  await one.start();
  await promise;
  one.close();
  expect(attempts).toEqual([1, 2, 3]);
});

describe('a provider with a CA of its own', () => {
  it('is ready by the certificates themselves', async () => {
    const one = provider({ ca });
    await one.start();
    expect(one.status.kind).toBe('ready');
    one.close();
  });

  it('is not reached without them, or by those of another', async () => {
    expect(await reached(provider({}))).toBe('refused');
    expect(await reached(provider({ ca: otherCa }))).toBe('refused');
  });

  it('is reached by either of both', async () => {
    await writeFile(caFile, otherCa);
    expect(await reached(provider({ ca, caFile }))).toBe(200);
    expect(await reached(provider({ ca: otherCa, caFile }))).toBe('refused');
  });

  it('is reached once the file is the right one, without a restart', async () => {
    const one = provider({ caFile });
    await writeFile(caFile, otherCa);
    expect(await reached(one)).toBe('refused');
    await writeFile(caFile, ca);
    expect(await reached(one)).toBe(200);
  });

  it('goes on with what it had while the file is being replaced, and says so', async () => {
    await writeFile(caFile, ca);
    const one = provider({ caFile });
    expect(await reached(one)).toBe(200);
    await rm(caFile);
    expect(await reached(one)).toBe(200);
    expect(lines).toEqual([
      expect.stringMatching(/^OpenID provider P goes on with the CA it was given before: .*ca.pem/),
    ]);
  });

  it.each(['no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
    'refuses %j',
    async (text) => {
      await writeFile(caFile, text);
      await expect(provider({ caFile }).fetch(double.configUrl)).rejects.toMatchObject({ code: 'CaUnusable' });
      await expect(provider({ ca: text }).fetch(double.configUrl)).rejects.toMatchObject({ code: 'CaUnusable' });
    },
  );
});
