import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeAddress } from '../support/cluster/start-cluster.ts';
import { keycloak, kubectl, Team } from '../support/cluster/team.ts';
import { until } from '../support/cluster/until.ts';

const team = new Team('team-two');
const server = 'demo-server';

/** A provider that says it is another one. */
const impostor = createServer((_request, response) => {
  const at = `http://${nodeAddress}:${(impostor.address() as AddressInfo).port}`;
  const endpoints = { authorization_endpoint: `${at}/auth`, token_endpoint: `${at}/token`, jwks_uri: `${at}/keys` };
  response.setHeader('content-type', 'application/json');
  response.end(
    JSON.stringify({
      issuer: 'http://somebody.else.example/realms/coffer',
      ...endpoints,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
  );
});

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    impostor.listen(0, nodeAddress, resolve);
  });
  await team.commitAll();
  await team.untilSettled();
});

afterAll(() => {
  impostor.close();
});

const wrong = [
  {
    name: 'a configUrl that answers 404',
    break: () =>
      kubectl.apply(team.identityProvider({ configUrl: keycloak.configUrl.replace('/coffer/', '/absent/') })),
    message: /404/,
  },
  {
    name: 'a configUrl at which nobody listens',
    break: () =>
      kubectl.apply(
        team.identityProvider({ configUrl: `http://${nodeAddress}:9/realms/coffer/.well-known/openid-configuration` }),
      ),
    message: /ECONNREFUSED|refused/i,
  },
  {
    name: 'an issuer of another name',
    break: () => {
      const at = `http://${nodeAddress}:${(impostor.address() as AddressInfo).port}`;
      return kubectl.apply(
        team.identityProvider({ configUrl: `${at}/realms/coffer/.well-known/openid-configuration` }),
      );
    },
    message: /somebody\.else\.example/,
  },
  {
    name: 'a client secret that the token endpoint refuses',
    break: () => kubectl.apply(team.clientSecret('wrong')),
    message: /client/i,
  },
];

describe('an IdentityProvider with', () => {
  it.each(wrong)('$name touches no pod, says why on itself and its tenant, and heals by the fix', async (each) => {
    const before = await team.podUids(server);
    await each.break();
    const provider = await team.untilCondition('identityprovider', 'primary-iam', { status: 'False' });
    const ready = provider.status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready?.message).toMatch(each.message);
    const tenant = await team.untilCondition('tenant', 'demo', { status: 'False', reason: ready?.reason ?? '' });
    const identity = tenant.status?.conditions?.find(({ type }) => type === 'IdentityReady');
    expect([identity?.status, identity?.reason]).toEqual(['False', ready?.reason]);
    console.log(`${each.name}: ${ready?.reason}: ${ready?.message}`);
    expect(await team.podUids(server)).toEqual(before);
    const answer = await fetch(`${await team.endpoint()}/minio/health/ready`);
    expect(answer.status).toBe(200);

    await kubectl.apply(team.clientSecret(keycloak.clientSecret), team.identityProvider());
    await team.untilSettled();
    expect(await team.podUids(server)).toEqual(before);
  });

  it('was checked from the tenants network: no check pod is left', async () => {
    await until('the last check pod to be gone', async () => {
      const pods = await kubectl.list('pods', team.namespace, 'app.kubernetes.io/component=provider-check');
      return pods.length === 0 ? true : undefined;
    });
    expect((await team.events()).join('\n')).not.toContain('test-client-secret');
  });
});
