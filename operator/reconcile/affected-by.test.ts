import { describe, expect, it } from 'vitest';
import type { CofferObject } from '../api/object.ts';
import { affectedBy, type Change } from './affected-by.ts';
import { objectKey } from './resources.ts';
import { kms, made, Namespace, provider, tenant } from '../../test/support/operator/reconciler-harness.ts';

const demo = tenant({
  identityProviders: [{ name: 'a' }],
  kmsConfigRef: { name: 'keys' },
  settings: [
    { name: 'SVC_REGION', valueFrom: { configMapKeyRef: { name: 'settings', key: 'region' } } },
    { name: 'SVC_LOGGER_WEBHOOK_AUTH_TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'token' } } },
  ],
  tls: { secretName: 'demo-tls' },
});
const other = tenant({}, 'other');
const bucket = made('Bucket', 'photos', { tenantRef: { name: 'demo' } });

function affected(change: Change, objects: readonly CofferObject[] = [demo, other, provider('a'), kms(), bucket]) {
  const scope = new Namespace();
  scope.objects = objects;
  return affectedBy(change, scope.resources()).map(objectKey).sort();
}

describe('a change', () => {
  it('of a tenant concerns it, its key service and its buckets', () => {
    expect(affected({ kind: 'object', before: undefined, after: demo })).toEqual([
      'Bucket/photos',
      'KMSConfig/keys',
      'Tenant/demo',
    ]);
  });
  it('of the key service that a tenant uses concerns the former one too', () => {
    const moved = tenant({ kmsConfigRef: { name: 'others' } });
    expect(affected({ kind: 'object', before: demo, after: moved })).toContain('KMSConfig/keys');
    expect(affected({ kind: 'object', before: demo, after: moved })).toContain('KMSConfig/others');
  });
  it('of a provider or a key service concerns its tenants only', () => {
    expect(affected({ kind: 'object', before: undefined, after: provider('a') })).toEqual([
      'IdentityProvider/a',
      'Tenant/demo',
    ]);
    expect(affected({ kind: 'object', before: kms(), after: undefined })).toEqual(['KMSConfig/keys', 'Tenant/demo']);
  });
  it.each(['token', 'demo-tls'])('of the Secret %s concerns who names it', (name) => {
    expect(affected({ kind: 'Secret', name })).toContain('Tenant/demo');
    expect(affected({ kind: 'Secret', name })).not.toContain('Tenant/other');
  });
  it('of the Secret of a provider concerns its tenants', () => {
    expect(affected({ kind: 'Secret', name: 'client' })).toEqual(['IdentityProvider/a', 'Tenant/demo']);
  });
  it('of a ConfigMap concerns who names it, and a Secret of the same name nobody', () => {
    expect(affected({ kind: 'ConfigMap', name: 'settings' })).toContain('Tenant/demo');
    expect(affected({ kind: 'Secret', name: 'settings' })).toEqual([]);
  });
});
