import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyService, secret, tenant, type Manifest } from '../support/operator/manifests.ts';
import { Stage } from '../support/operator/stage.ts';

// A namespace that is being deleted takes nothing new in, and goes once nothing in it has a finalizer.

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.set([], { namespaces: ['red'] });
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

const inDemo = (kind: string, name: string, spec: object = {}): Manifest => ({
  apiVersion: 'coffer.dev/v1alpha1',
  kind,
  metadata: { name, namespace: 'red' },
  spec: { tenantRef: { name: 'demo' }, deletionPolicy: 'Delete', ...spec },
});
const demo = tenant('demo', { kmsConfigRef: { name: 'keys' } }, 'red');
const keys = keyService('keys', {}, 'red');
const readers = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::photos/*' }],
};
const object = (plural: string, name: string) => stage.double.get(`${plural}.coffer.dev`, 'red', name);
const finalizers = (plural: string, name: string) => object(plural, name)?.metadata.finalizers ?? [];
const deleteNamespace = () => stage.double.delete('namespaces', undefined, 'red');
const namespaceGoes = () =>
  stage.until(() => stage.double.get('namespaces', undefined, 'red') === undefined, 'the namespace is gone');
/** All that Kubernetes itself can delete is gone. */
const onlyHeld = () =>
  stage.until(
    () => stage.double.list('secrets', 'red').length === 0 && object('tenants', 'demo') === undefined,
    'only',
  );

describe('a namespace that is deleted', () => {
  it('goes while the operator runs', async () => {
    await stage.settle(demo, keys);
    deleteNamespace();
    await namespaceGoes();
  });

  it('goes once an operator comes back that was away meanwhile', async () => {
    await stage.settle(demo, keys);
    expect(finalizers('kmsconfigs', 'keys')).toEqual(['coffer.dev/kmsconfig']);
    await stage.stopOperator();
    deleteNamespace();
    await onlyHeld();
    await stage.startOperator();
    await namespaceGoes();
  });

  it('goes with what is declared in its tenant, too', async () => {
    await stage.settle(demo, keys);
    const managed = [
      ['users', inDemo('User', 'ann')],
      ['buckets', inDemo('Bucket', 'photos')],
      ['accesskeys', inDemo('AccessKey', 'robot', { user: 'ann' })],
      ['policies', inDemo('Policy', 'readers', { document: readers })],
      ['policybindings', inDemo('PolicyBinding', 'ann-reads', { policies: ['readers'], subjects: [{ user: 'ann' }] })],
    ] as const;
    stage.put(...managed.map(([, manifest]) => manifest));
    for (const [plural, { metadata }] of managed) {
      await stage.until(() => finalizers(plural, metadata.name).length > 0, `the finalizer of ${metadata.name}`);
    }
    await stage.stopOperator();
    deleteNamespace();
    await onlyHeld();
    await stage.startOperator();
    await namespaceGoes();
  });

  it('waits for a tenant that something else holds, and for no longer', async () => {
    await stage.settle(
      { ...demo, metadata: { ...demo.metadata, finalizers: ['example.com/backup'] } } as Manifest,
      keys,
    );
    await stage.stopOperator();
    deleteNamespace();
    await stage.until(() => object('kmsconfigs', 'keys')?.metadata.deletionTimestamp !== undefined, 'all are deleted');
    await stage.startOperator();
    await stage.reconciles(2);
    expect(finalizers('kmsconfigs', 'keys')).toEqual(['coffer.dev/kmsconfig']);
    stage.put(demo);
    await namespaceGoes();
  });
});

describe('a resource that is deleted', () => {
  it('goes though the key of fingerprints cannot be made', async () => {
    await stage.settle(demo, keys);
    await stage.stopOperator();
    stage.double.delete('tenants.coffer.dev', 'red', 'demo');
    stage.double.delete('kmsconfigs.coffer.dev', 'red', 'keys');
    stage.double.delete('secrets', 'red', 'coffer-fingerprint-key');
    stage.put(secret('coffer-fingerprint-key', { some: 'value' }, 'red'));
    await stage.startOperator();
    await stage.until(() => object('kmsconfigs', 'keys') === undefined, 'the KMSConfig is gone');
  });
});
