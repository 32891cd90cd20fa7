import { describe, expect, it } from 'vitest';
import { made, provider, tenant } from '../../test/support/operator/reconciler-harness.ts';
import { renderServiceAccounts } from './render-identity-provider.ts';
import { tenantKubernetes } from './kubernetes-options.ts';

const context = { fingerprint: (value: string) => value };
const accepting = tenant({ kubernetesServiceAccounts: { audience: 'coffer-demo' } });
const kept = { name: 'kept', key: 'client-secret' };

describe('a tenant that takes tokens of service accounts', () => {
  it('knows the cluster as a provider, for the audience, and has a token to read its keys with', () => {
    const { environment } = renderServiceAccounts(accepting, [], context);
    expect(environment.map(({ name, value }) => [name, ...value.parts])).toEqual([
      ['SVC_IDENTITY_OPENID_VENDOR_KUBERNETES_SERVICE_ACCOUNTS', 'kubernetes'],
      ['SVC_IDENTITY_OPENID_CLIENT_ID_KUBERNETES_SERVICE_ACCOUNTS', 'coffer-demo'],
    ]);
    expect(tenantKubernetes(accepting, 'root').pod.serviceAccountToken).toBe(true);
  });

  it('has none of that where it does not', () => {
    expect(renderServiceAccounts(tenant(), [], context)).toEqual({ environment: [], files: [], inputs: [] });
    expect(tenantKubernetes(made('Tenant', 'demo', {}), 'root').pod).not.toHaveProperty('serviceAccountToken');
  });

  it('refuses a provider of the same name', () => {
    const same = [{ provider: provider('kubernetes-service-accounts'), kept }];
    expect(() => renderServiceAccounts(accepting, same, context)).toThrow(/give it another/);
  });
});
