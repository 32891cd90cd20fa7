import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityProvider, keyService, secret, sharedStore, tenantOfSeveral } from '../support/operator/manifests.ts';
import { brokenProvider, goodProvider } from '../support/operator/operator.ts';
import { podsOf, uidsOf } from '../support/operator/read-cluster.ts';
import { Stage } from '../support/operator/stage.ts';
import { watchDisruptions } from '../support/operator/watch-disruptions.ts';

const demo = { kind: 'Tenant', name: 'demo' } as const;
const idp = { kind: 'IdentityProvider', name: 'idp' } as const;
const users = { identityProviders: [{ name: 'idp' }] };

let stage: Stage;

beforeEach(async () => {
  stage = await Stage.set([...sharedStore(), secret('client', { secret: 'x' })]);
});
afterEach(async () => {
  expect(await stage.strike()).toEqual([]);
});

describe('an identity provider', () => {
  it('that is wrong leaves pods alone, says so on itself and its tenants, and heals (complaint 6)', async () => {
    await stage.settle(identityProvider('idp'), tenantOfSeveral('demo', 2, users));
    const before = uidsOf(podsOf(stage.double, 'demo-server'));
    stage.double.providerCheck = brokenProvider('DiscoveryFailed', 'no such host');
    stage.put(identityProvider('idp', { configUrl: 'https://wrong.example.com/.well-known/openid-configuration' }));
    await stage.says(idp, 'Ready', 'DiscoveryFailed', 'False');
    await stage.says(demo, 'Ready', 'DiscoveryFailed', 'False');
    await stage.says(demo, 'RolloutBlocked', 'ProviderInvalid');
    expect(uidsOf(podsOf(stage.double, 'demo-server'))).toEqual(before);
    stage.double.providerCheck = goodProvider;
    await stage.settle(identityProvider('idp'));
    await stage.current(demo);
    expect(uidsOf(podsOf(stage.double, 'demo-server'))).toEqual(before);
  });

  it('that changes rolls its tenants one pod at a time, and says why (complaints 1, 6)', async () => {
    await stage.settle(identityProvider('idp'), tenantOfSeveral('demo', 3, users));
    const disruptions = watchDisruptions(stage.double);
    stage.put(identityProvider('idp', { scopes: ['openid', 'profile'] }));
    await stage.until(
      () => disruptions.deleted.filter((name) => name.startsWith('demo')).length === 3,
      'all are replaced',
    );
    await stage.current(idp, demo);
    expect(disruptions.maxConcurrent).toBe(1);
    await stage.tells(demo, 'IdentityProviderChanged');
  });

  it('whose client secret changes in its Secret rolls its tenants (complaint 2)', async () => {
    await stage.settle(identityProvider('idp'), tenantOfSeveral('demo', 2, users));
    const disruptions = watchDisruptions(stage.double);
    stage.put(secret('client', { secret: 'y' }));
    await stage.until(
      () => disruptions.deleted.filter((name) => name.startsWith('demo')).length === 2,
      'all are replaced',
    );
    await stage.current(idp, demo);
    await stage.tells(demo, 'SecretChanged');
  });

  it('is sent no Secret whose owner does not allow that', async () => {
    const other = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'vault', namespace: 'default' } };
    stage.put({ ...other, stringData: { token: 'x' } });
    stage.put(identityProvider('idp', { clientSecretRef: { name: 'vault', key: 'token' } }));
    await stage.says(idp, 'Ready', 'SecretNotAllowed', 'False');
    const made = stage.double.list('pods', 'default').map(({ metadata }) => metadata.name);
    expect(made.filter((name) => name.startsWith('idp'))).toEqual([]);
    stage.put({
      ...other,
      metadata: { ...other.metadata, labels: { 'coffer.dev/use-identity-provider': 'true' } },
      stringData: { token: 'x' },
    });
    await stage.current(idp);
  });

  it('is sent nothing where the operator may not ask', async () => {
    await stage.stopOperator();
    await stage.startOperator({ providerHosts: ['*.example.com', 'id.example.org'] });
    stage.put(identityProvider('idp', { configUrl: 'https://evil.example/.well-known/openid-configuration' }));
    await stage.says(idp, 'Ready', 'HostNotAllowed', 'False');
    stage.put(identityProvider('idp'));
    await stage.current(idp);
  });

  it('leaves the key service of the tenant as it was (complaint 10)', async () => {
    const encrypted = { kmsConfigRef: { name: 'keys' } };
    await stage.settle(identityProvider('idp'), keyService('keys'), tenantOfSeveral('demo', 2, encrypted));
    const before = keyServiceSettings();
    await stage.stopOperator();
    await stage.startOperator();
    await stage.settle(tenantOfSeveral('demo', 2, { ...encrypted, ...users }));
    await stage.tells(demo, 'IdentityProviderAdded');
    await stage.current(demo);
    expect(before.length).toBeGreaterThan(0);
    expect(keyServiceSettings()).toEqual(before);
  });
});

function keyServiceSettings(): readonly unknown[] {
  return podsOf(stage.double, 'demo-server').flatMap((pod) => {
    const { containers } = pod['spec'] as { containers: { env?: { name: string }[] }[] };
    return containers.flatMap(({ env = [] }) => env.filter(({ name }) => name.includes('KMS')));
  });
}
