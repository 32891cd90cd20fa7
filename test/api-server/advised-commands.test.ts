import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachKind } from '../../operator/api/kinds.ts';
import type { CofferObject, ManagedResource, Tenant, User } from '../../operator/api/object.ts';
import type { ManagedContext, ManagedControllers } from '../../operator/reconcile/managed/controller.ts';
import { ready } from '../../operator/reconcile/conditions.ts';
import { mustBeTakeable } from '../../operator/reconcile/managed/credentials.ts';
import { withVolumes } from '../../operator/reconcile/volume-conditions.ts';
import { secretValue } from '../../operator/render/render-context.ts';
import { made, Namespace, tenant } from '../support/operator/reconciler-harness.ts';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startApiServer, untilEstablished, type ApiServer } from './cluster.ts';

// The commands of kubectl that conditions advise, each run as it stands: by a user whose namespace is another one, in a cluster that has other kinds
// of the same names.

const root = fileURLToPath(new URL('../../', import.meta.url));
let server: ApiServer;
let bin: string;

const within = <T extends CofferObject>(object: T, more: object = {}): T => ({
  ...object,
  metadata: { ...object.metadata, namespace: 'team', ...more },
});
const tenantRef = { name: 'demo' };
const document = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }] };
const managed: readonly ManagedResource[] = [
  made('Bucket', 'photos', { tenantRef, deletionPolicy: 'Delete' }),
  made('Policy', 'readers', { tenantRef, document }),
  made('PolicyBinding', 'gallery', { tenantRef, policies: ['readers'], subjects: [{ user: 'ann' }] }),
  made('User', 'ann', { tenantRef }),
  made('AccessKey', 'backup', { tenantRef, user: 'ann' }),
].map((resource) => within(resource));
const plurals = new Map<string, string>(eachKind(({ kind, plural }) => [kind, plural] as const));
const pluralOf = (kind: CofferObject['kind']) => plurals.get(kind) ?? kind;

/** Another kind of the same names, which comes first by its group. */
function namesake(kind: CofferObject['kind']) {
  const [plural, group] = [pluralOf(kind), 'aaa.example.com'];
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'coffer-commands-'));
  server = await startApiServer();
  await server.kubectl(['apply', '--server-side', '-f', `${root}crds`]);
  const kinds = ['Tenant', ...managed.map(({ kind }) => kind)] as const;
  for (const kind of kinds) await server.kubectl(['apply', '-f', '-'], JSON.stringify(namesake(kind)));
  const groups = ['coffer.dev', 'aaa.example.com'];
  await untilEstablished(
    (args) => server.kubectl(args),
    kinds.flatMap((kind) => groups.map((group) => `${pluralOf(kind)}.${group}`)),
  );
  await server.kubectl(['create', 'namespace', 'team']);
  for (const { kind, metadata, spec } of [within(tenant({ storage: { size: '1Gi' } })), ...managed]) {
    const manifest = { apiVersion: 'coffer.dev/v1alpha1', kind, metadata, spec };
    await server.kubectl(['apply', '-f', '-'], JSON.stringify(manifest));
  }
  await symlink(tool('kubernetes/kubectl', 'kubernetes-api-server'), join(bin, 'kubectl'));
  const plugin = `#!/bin/sh\nexec '${process.execPath}' '${root}bin/kubectl-coffer.js' "$@"\n`;
  await writeFile(join(bin, 'kubectl-coffer'), plugin);
  await chmod(join(bin, 'kubectl-coffer'), 0o755);
}, 540_000);
afterAll(async () => {
  await server.stop();
  await rm(bin, { recursive: true, force: true });
});

/** Runs the command of a message, and returns its output. */
async function runAdvised(message: string, pattern = /kubectl .*$/): Promise<string> {
  const command = pattern.exec(message)?.[0] ?? `echo "no command in: ${message}" >&2; false`;
  const env = { KUBECONFIG: server.kubeconfig, PATH: `${bin}:${process.env['PATH']}` };
  const { code, stdout, stderr } = await runCommand('/bin/sh', ['-c', command], { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** Runs the command that ends a message, and returns the object as it is then. */
async function follow(message: string, { kind, metadata }: CofferObject): Promise<CofferObject> {
  await runAdvised(message);
  const type = `${pluralOf(kind)}.coffer.dev`;
  return JSON.parse(await server.kubectl(['get', type, metadata.name, '-n', 'team', '-o', 'json'])) as CofferObject;
}

/** The message of a condition after a reconcile of a tenant whose server has a store. */
async function told(type: string, state: { status?: string; unpromoted?: boolean; objects?: readonly CofferObject[] }) {
  const space = new Namespace();
  const written: Tenant = within(tenant());
  space.objects = [written, ...(state.objects ?? [])];
  const reconciler = space.open({
    controllers: {} as ManagedControllers,
    deploymentOf: async () => ({
      deploymentID: 'second',
      space: { free: 5, total: 10 },
      ...(state.unpromoted === true && { unpromoted: { since: '2026-01-01T00:00:00Z', reason: 'restored' } }),
    }),
  });
  const deployment = state.status ?? 'second';
  space.statuses.set('Tenant/demo', { observedGeneration: 1, conditions: [], deployment });
  await reconciler.start();
  await space.settle(reconciler);
  for (let turn = 0; turn < 3; turn++) await space.allReady(reconciler);
  await reconciler.reconcile({ kind: 'Tenant', name: 'demo' });
  const found = space.statuses.get('Tenant/demo')?.conditions.find((condition) => condition.type === type);
  return found?.message ?? '';
}

describe('what a condition advises', () => {
  it('accepts the store that is there', async () => {
    const { metadata } = await follow(await told('Ready', { status: 'first' }), within(tenant()));
    expect(metadata.annotations).toHaveProperty(['coffer.dev/accept-store'], 'second');
  });

  it('promotes a store that was restored', async () => {
    const { metadata } = await follow(await told('StorePromoted', { unpromoted: true }), within(tenant()));
    expect(metadata.annotations).toHaveProperty(['coffer.dev/promotedAt']);
  });

  it.each(managed.map((resource) => [resource.kind, resource] as const))(
    'ends the deletion of a %s without its tenant',
    async (kind, resource) => {
      const space = new Namespace();
      space.objects = [within(tenant({ hibernated: true })), resource];
      space.deleting.add(`${kind}/${resource.metadata.name}`);
      await space.open().reconcile({ kind, name: resource.metadata.name });
      const [ready] = space.statuses.get(`${kind}/${resource.metadata.name}`)?.conditions ?? [];
      const { spec } = await follow(ready?.message ?? '', resource);
      expect(spec).toMatchObject({ deletionPolicy: 'Retain' });
    },
  );

  it('lets a Secret be used', async () => {
    await server.kubectl(['create', 'secret', 'generic', 'client', '--from-literal=key=x', '--namespace', 'team']);
    const secret = { name: 'client', namespace: 'team', uses: new Set<never>(), data: { key: 'x' } };
    const use = () => secretValue(new Map([['client', secret]]), { name: 'client', key: 'key' }, 'f', 'tier');
    const message = (() => {
      try {
        return use();
      } catch (error) {
        return String(error);
      }
    })();
    await runAdvised(message);
    const labels = await server.kubectl(['get', 'secret', 'client', '-n', 'team', '-o', 'jsonpath={.metadata.labels}']);
    expect(JSON.parse(labels)).toEqual({ 'coffer.dev/use-tier': 'true' });
  });

  it.each(['growing', 'failed'] as const)('describes a volume whose growth is %s', async (state) => {
    const name = `data-${state}-server-0`;
    const metadata = { name, namespace: 'team' };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec };
    await server.kubectl(['apply', '-f', '-'], JSON.stringify(claim));
    const volume = { claim: name, namespace: 'team', has: '1Gi', asked: '2Gi', state };
    const { conditions } = withVolumes([ready('it runs')], { resizing: [volume] }, undefined, new Date());
    const described = await runAdvised(conditions[0]?.message ?? '', /kubectl describe \S+ \S+ --namespace [\w-]+/);
    expect(described).toContain(name);
  });

  it('takes the keys of a Secret, a second time too', async () => {
    const user = managed.find((resource): resource is User => resource.kind === 'User');
    if (user === undefined) throw new Error('there is no User');
    for (const key of ['one', 'other']) {
      const context = { status: {}, fingerprint: () => key } as unknown as ManagedContext;
      const advise = () => {
        try {
          mustBeTakeable(user, 'secret-key', context);
          return '';
        } catch (error) {
          return String(error);
        }
      };
      const { metadata } = await follow(advise(), user);
      expect(Object.values(metadata.annotations ?? {})).toContain(key);
    }
  });
});
