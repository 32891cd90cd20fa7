import { describe, expect, it } from 'vitest';
import { resourceTypes } from '../kube-client/resource-types.ts';
import { resourceArgument } from './change-resource.ts';

const { tenant, kmsConfig } = resourceTypes;

describe('resourceArgument', () => {
  it.each([
    ['demo', tenant, 'demo'],
    ['tenant/demo', tenant, 'demo'],
    ['Tenants/demo', tenant, 'demo'],
    ['ten/demo', tenant, 'demo'],
    ['kms/keys', kmsConfig, 'keys'],
    ['KMSConfig/keys', kmsConfig, 'keys'],
  ])('takes %s', (text, type, name) => {
    expect(resourceArgument(text, [tenant, kmsConfig])).toEqual({ type, name });
  });
  it.each(['', 'tenant/', 'a/b/c', 'pod/x'])('refuses "%s"', (text) => {
    expect(() => resourceArgument(text, [tenant])).toThrow(`"${text}" is no KIND/NAME`);
  });
  it('says what the command takes instead', () => {
    expect(() => resourceArgument('idp/company', [tenant, kmsConfig])).toThrow(
      '"idp/company" names IdentityProvider; this command takes Tenant or KMSConfig',
    );
  });
});
