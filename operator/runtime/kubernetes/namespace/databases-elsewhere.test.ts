import { expect, it } from 'vitest';
import { databasesElsewhere } from './databases-elsewhere.ts';

const tenant = (namespace: string, storage: object, status: object = {}) => ({
  apiVersion: 'coffer.dev/v1alpha1',
  kind: 'Tenant',
  metadata: { name: 'demo', namespace },
  spec: { storage },
  status,
});
const records = { postgres: { urlSecretRef: { name: 'database', key: 'url' } } };

it('has the deployments of Tenants of other namespaces that have a database, once they are recorded', () => {
  const found = databasesElsewhere(
    [
      tenant('own', { records }, { deployment: 'of this namespace' }),
      tenant('one', { records }, { deployment: 'one' }),
      tenant('two', { records }),
      tenant('three', { size: '1Gi' }, { deployment: 'on a volume' }),
    ],
    'own',
  );
  expect([...found]).toEqual([['one', { at: 'one/demo', created: '', accepted: false, serves: true }]]);
});

it('names the oldest of several Tenants of a deployment, in any order', () => {
  const tenants = ['b', 'a', 'c'].map((namespace) => {
    const { metadata, ...rest } = tenant(namespace, { records }, { deployment: 'shared' });
    return { ...rest, metadata: { ...metadata, creationTimestamp: namespace === 'c' ? '2026-01-01' : '2026-01-02' } };
  });
  expect([...databasesElsewhere(tenants, 'own')]).toEqual([
    ['shared', { at: 'c/demo', created: '2026-01-01', accepted: false, serves: true }],
  ]);
});

it.each([
  ['accepted its store', {}, { 'coffer.dev/accept-store': 'shared' }, { accepted: true, serves: true }],
  ['accepted another store', {}, { 'coffer.dev/accept-store': 'other' }, { accepted: false, serves: true }],
  ['is hibernated', { hibernated: true }, undefined, { accepted: false, serves: false }],
  ['is paused', { paused: true }, undefined, { accepted: false, serves: false }],
])('tells of a Tenant that it %s', (_title, spec, annotations, told) => {
  const { metadata, ...rest } = tenant('one', { records }, { deployment: 'shared' });
  const found = databasesElsewhere(
    [
      {
        ...rest,
        spec: { storage: { records }, ...spec },
        metadata: { ...metadata, ...(annotations && { annotations }) },
      },
    ],
    'own',
  );
  expect(found.get('shared')).toMatchObject(told);
});
