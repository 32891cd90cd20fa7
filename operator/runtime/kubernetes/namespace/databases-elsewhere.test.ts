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
  expect([...found]).toEqual([['one', 'one/demo']]);
});
