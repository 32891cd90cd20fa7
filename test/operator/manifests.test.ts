import { describe, expect, it } from 'vitest';
import { validate } from '../../operator/api/validate.ts';
import { identityProvider, keyService, tenant, tenantOfSeveral } from '../support/operator/manifests.ts';

describe('the manifests of these tests', () => {
  it.each([
    tenant('a'),
    tenantOfSeveral('b', 3),
    identityProvider('c'),
    keyService('d'),
    keyService('e', { replicas: 3 }),
  ])('are valid: $kind $metadata.name', (manifest) => {
    expect(validate(manifest)).toMatchObject({ kind: 'object' });
  });
});
