import { ProgramError } from '../../../platform/errors/program-error.ts';
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Tenant } from '../../api/object.ts';
import { CertificateStore } from './certificate-store.ts';
import { identifyProcess } from './process-identity.ts';
import { rootCredentials } from './credentials.ts';
import { StateFolder, lockState } from './state-folder.ts';

let folder: string;
let state: StateFolder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coffer-state-'));
  state = new StateFolder(join(folder, 'state'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a state folder', () => {
  it('lets only its user in', () => {
    expect(statSync(state.path).mode & 0o777).toBe(0o700);
  });
  it('keeps what is made once, in a file of 0600', async () => {
    const first = await state.madeOnce(() => 'a', 'secrets', 'x');
    const second = await state.madeOnce(() => 'b', 'secrets', 'x');
    expect([first, second]).toEqual(['a', 'a']);
    expect(statSync(state.at('secrets', 'x')).mode & 0o777).toBe(0o600);
  });
});

describe('the lock of a state folder', () => {
  it('refuses a second holder, and names the first', async () => {
    const unlock = await lockState(state);
    await expect(lockState(state)).rejects.toThrow(ProgramError);
    await expect(lockState(state)).rejects.toThrow(`in use by process ${process.pid}`);
    unlock();
    (await lockState(state))();
  });
  it('is taken over from a process that died', async () => {
    writeFileSync(state.at('operator.lock'), JSON.stringify({ pid: 4_000_000, startedAt: '1' }));
    (await lockState(state))();
  });
  it('is taken over where the number now belongs to another process', async () => {
    const self = identifyProcess(process.pid);
    writeFileSync(state.at('operator.lock'), JSON.stringify({ ...self, startedAt: 'long ago' }));
    (await lockState(state))();
    expect(existsSync(state.at('operator.lock'))).toBe(false);
  });
});

const tenant = (spec: object = {}) => ({ metadata: { name: 'demo' }, spec }) as Tenant;

describe('root credentials', () => {
  const none = new Map();

  it('are made once and kept', async () => {
    const first = await rootCredentials(tenant(), none, state, {});
    const second = await rootCredentials(tenant(), none, state, {});
    expect(second).toEqual(first);
    expect(first.secret.data['rootPassword']).toMatch(/^[A-Za-z0-9]{32}$/);
    expect(readFileSync(first.passwordFile ?? '', 'utf8').trim()).toBe(first.secret.data['rootPassword']);
  });
  it("are the Secret's where the Tenant names one", async () => {
    const secrets = new Map([['root', { name: 'root', data: { rootUser: 'u', rootPassword: 'p' } }]]);
    const found = await rootCredentials(tenant({ rootCredentialsSecret: { name: 'root' } }), secrets, state, {});
    expect(found.secret.data).toEqual({ rootUser: 'u', rootPassword: 'p' });
  });
  it.each(['SVC_ROOT', 'MINIO_ROOT'])('of the environment (%s_*) win over all', async (prefix) => {
    const environment = { [`${prefix}_USER`]: 'u', [`${prefix}_PASSWORD`]: 'from-outside' };
    const found = await rootCredentials(tenant({ rootCredentialsSecret: { name: 'root' } }), none, state, environment);
    expect(found.secret.data).toEqual({ rootUser: 'u', rootPassword: 'from-outside' });
    expect(found.passwordAt).toBe(`the environment (${prefix}_PASSWORD)`);
  });
});

describe('certificates', () => {
  const need = {
    name: 'keys-key-service',
    owner: { kind: 'KMSConfig', name: 'keys' },
    commonName: 'keys-key-service',
    authority: 'keys',
    usages: ['server'],
    validFor: ['keys-key-service'],
    alsoValidFor: ['127.0.0.1'],
  } as const;
  const year = 365 * 24 * 3_600_000;

  it('are kept from one start to the next', async () => {
    const first = await new CertificateStore(state, () => new Date()).ensure(need);
    const second = await new CertificateStore(state, () => new Date()).ensure(need);
    expect(second).toEqual(first);
  });
  it('of one authority are signed by the same one, also when two resources ask at the same time', async () => {
    const store = new CertificateStore(state, () => new Date());
    const needs = ['a', 'b', 'c', 'd'].map((name) => ({ ...need, name }));
    const authorities = (await Promise.all(needs.map((one) => store.ensure(one)))).map(({ ca }) => ca);
    expect(new Set(authorities).size).toBe(1);
    for (const one of needs) {
      const certificate = new X509Certificate(await store.part(one, 'certificate'));
      expect(certificate.checkIssued(new X509Certificate(await store.part(one, 'ca')))).toBe(true);
    }
  });
  it('are renewed in the last third of their life for the same key, so that the identity stays', async () => {
    const first = await new CertificateStore(state, () => new Date()).ensure(need);
    const later = new Date(Date.now() + 0.7 * year);
    const renewed = await new CertificateStore(state, () => later).ensure(need);
    expect(renewed.identity).toBe(first.identity);
    expect(renewed.notAfter.getTime()).toBeGreaterThan(first.notAfter.getTime());
  });
  it('are made again for a name that they lack', async () => {
    const store = new CertificateStore(state, () => new Date());
    await store.ensure(need);
    const before = await store.part(need, 'certificate');
    await store.ensure({ ...need, alsoValidFor: ['10.1.2.3'] });
    expect(await store.part(need, 'certificate')).not.toBe(before);
  });
});
