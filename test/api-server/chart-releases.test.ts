import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helm } from '../../deploy/render-chart.ts';
import { eachKind } from '../../operator/api/kinds.ts';
import { tool } from '../support/process/run-command.ts';
import { startApiServer, untilEstablished, type ApiServer } from './cluster.ts';

// Releases of coffer-tenant in a real API server: what an installation, an upgrade, a rollback and an uninstallation make, keep and delete. No operator
// runs, so that what a resource does when it is deleted is not seen here: test/operator and test/cluster have that.

const run = promisify(execFile);
const chart = fileURLToPath(new URL('../../charts/coffer-tenant', import.meta.url));
const crds = fileURLToPath(new URL('../../crds', import.meta.url));
const types = eachKind(({ plural }) => `${plural}.coffer.dev`);
let server: ApiServer;

beforeAll(async () => {
  tool('kubernetes/helm', 'helm');
  server = await startApiServer();
  await server.kubectl(['apply', '--server-side', '-f', crds]);
  await untilEstablished((args) => server.kubectl(args), types);
}, 180_000);
afterAll(() => server?.stop());

const document = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: 'arn:aws:s3:::photos/*' }],
};
/** A row of each map. */
const everything = {
  kms: { enabled: true, spec: { keystore: { files: { size: '1Gi' } } } },
  identityProviders: {
    company: {
      configUrl: 'https://sso.example.com/.well-known/openid-configuration',
      clientId: 'coffer',
      clientSecretRef: { name: 'company-client', key: 'client-secret' },
    },
  },
  buckets: { photos: {} },
  policies: { 'photos-read': { document } },
  policyBindings: { gallery: { policies: ['photos-read'], subjects: [{ user: 'ann' }] } },
  users: { ann: {} },
  accessKeys: { backup: { user: 'ann' } },
};

/** Runs Helm in the namespace that has the name of the release. */
async function release(verb: string, name: string, args: readonly string[], values: object = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-values-'));
  try {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    const withValues = verb === 'install' || verb === 'upgrade' ? ['--values', file] : [];
    const all = [verb, name, ...args, ...withValues, '--namespace', name, '--kubeconfig', server.kubeconfig];
    return (await run(helm, all, { maxBuffer: 64 << 20 })).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Live {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: object;
}

/** Returns the resources of a namespace by kind and name, each with what changes if it is made again, and its spec. */
async function live(namespace: string): Promise<Readonly<Record<string, { uid: string; spec: object }>>> {
  const text = await server.kubectl(['get', types.join(','), '--namespace', namespace, '--output', 'json']);
  const { items } = JSON.parse(text) as { readonly items: readonly Live[] };
  return Object.fromEntries(items.map(({ kind, metadata: { name, uid }, spec }) => [`${kind} ${name}`, { uid, spec }]));
}

async function install(name: string, keep: boolean) {
  await server.kubectl(['create', 'namespace', name]);
  const values = { tenant: { keep, spec: { storage: { size: '1Gi' } } }, ...everything };
  await release('install', name, [chart], values);
  return { values, first: await live(name) };
}

const kinds = eachKind(({ kind }) => kind);

describe('a release with tenant.keep', () => {
  it('has each kind, and loses and changes nothing by a rollback and an uninstallation', async () => {
    const { values, first } = await install('kept', true);
    expect(new Set(Object.keys(first).map((name) => name.split(' ')[0]))).toEqual(new Set(kinds));
    await release('upgrade', 'kept', [chart], { ...values, users: { ann: {}, bob: {} } });
    const upgraded = await live('kept');
    expect(upgraded).toEqual({ ...first, 'User bob': expect.anything() });
    await release('rollback', 'kept', ['1']);
    expect(await live('kept')).toEqual(upgraded);
    await release('uninstall', 'kept', []);
    expect(await live('kept')).toEqual(upgraded);
  }, 180_000);

  // Helm refuses to take up by a rollback what is there and not in the release before: the guide has the upgrade.
  it('takes up by an upgrade, and not by a rollback, what was taken out of the values', async () => {
    const { values, first } = await install('back', true);
    await release('upgrade', 'back', [chart], { ...values, users: {} });
    await expect(release('rollback', 'back', ['1'])).rejects.toThrow('no User with the name "ann" found');
    expect(await live('back')).toEqual(first);
    await release('upgrade', 'back', [chart], values);
    expect(await live('back')).toEqual(first);
    await release('uninstall', 'back', []);
    expect(await live('back')).toEqual(first);
  }, 180_000);

  it('is taken up again by an installation of the same name, as it is', async () => {
    const { values, first } = await install('again', true);
    await release('uninstall', 'again', []);
    await release('install', 'again', [chart], values);
    expect(await live('again')).toEqual(first);
  }, 180_000);

  it('deletes nothing where it begins with an upgrade before the uninstallation', async () => {
    const { values, first } = await install('begins', false);
    await release('upgrade', 'begins', [chart], { ...values, tenant: { ...values.tenant, keep: true } });
    await release('uninstall', 'begins', []);
    expect(await live('begins')).toEqual(first);
  }, 180_000);
});

describe('a release without tenant.keep', () => {
  it('goes back to what it was by a rollback, and deletes all that it made by an uninstallation', async () => {
    const { values, first } = await install('gone', false);
    await release('upgrade', 'gone', [chart], { ...values, users: { bob: {} } });
    const { 'User ann': _removed, ...rest } = first;
    expect(await live('gone')).toEqual({ ...rest, 'User bob': expect.anything() });
    await release('rollback', 'gone', ['1']);
    const back = await live('gone');
    expect(back).toEqual({ ...first, 'User ann': { spec: first['User ann']?.spec, uid: expect.any(String) } });
    // A user who was deleted is made again, with other keys.
    expect(back['User ann']?.uid).not.toBe(first['User ann']?.uid);
    await release('uninstall', 'gone', []);
    expect(await live('gone')).toEqual({});
  }, 180_000);

  it('leaves what others made in its namespace', async () => {
    await install('mixed', false);
    const other = { apiVersion: 'coffer.dev/v1alpha1', kind: 'User', metadata: { name: 'own', namespace: 'mixed' } };
    await server.kubectl(['apply', '-f', '-'], JSON.stringify({ ...other, spec: { tenantRef: { name: 'mixed' } } }));
    await release('uninstall', 'mixed', []);
    expect(Object.keys(await live('mixed'))).toEqual(['User own']);
  }, 180_000);
});

const valuesAbove = (enabled: boolean, keep = false) => ({
  'coffer-tenant': { enabled, tenant: { keep }, ...everything },
});

describe('a chart above it', () => {
  let above: string;
  beforeAll(async () => {
    above = await mkdtemp(join(tmpdir(), 'coffer-umbrella-'));
    await mkdir(join(above, 'charts'));
    await cp(chart, join(above, 'charts/coffer-tenant'), { recursive: true });
    const dependencies = [{ name: 'coffer-tenant', version: '*.*.*-0', condition: 'coffer-tenant.enabled' }];
    const metadata = { apiVersion: 'v2', name: 'umbrella', version: '1.0.0', dependencies };
    // YAML has JSON in it.
    await writeFile(join(above, 'Chart.yaml'), JSON.stringify(metadata));
    await writeFile(join(above, 'values.yaml'), JSON.stringify({ global: { team: 'storage' } }));
  });
  afterAll(() => rm(above, { recursive: true, force: true }));

  it('switches it on and off by coffer-tenant.enabled', async () => {
    await server.kubectl(['create', 'namespace', 'whole']);
    await release('install', 'whole', [above], valuesAbove(false));
    expect(await live('whole')).toEqual({});
    await release('upgrade', 'whole', [above], valuesAbove(true));
    expect(new Set(Object.keys(await live('whole')).map((name) => name.split(' ')[0]))).toEqual(new Set(kinds));
    await release('upgrade', 'whole', [above], valuesAbove(false));
    expect(await live('whole')).toEqual({});
  }, 180_000);

  it('keeps all of it by tenant.keep where the condition is switched off', async () => {
    await server.kubectl(['create', 'namespace', 'above']);
    await release('install', 'above', [above], valuesAbove(true, true));
    const before = await live('above');
    await release('upgrade', 'above', [above], valuesAbove(false, true));
    expect(await live('above')).toEqual(before);
  }, 180_000);
});
