import { beforeAll, describe, expect, inject, it } from 'vitest';
import { setClientSecret, keycloak, kubectl, Team } from '../support/cluster/team.ts';
import { operatorNamespace, untilOperatorRolledOut } from '../support/cluster/operator.ts';
import { image } from '../container/docker.ts';
import { nextImage } from '../support/cluster/start-cluster.ts';
import { oneShortRestart } from '../support/cluster/under-load.ts';

const team = new Team('team-two');
const [server, keys] = ['demo-server', 'keys-key-service'];
const bucket = 'load';

beforeAll(async () => {
  await setClientSecret(inject('keycloakUrl'), keycloak.clientId, keycloak.clientSecret);
  await team.commitAll();
  await team.untilSettled();
  await team.createBucket(bucket);
});

describe('with clients that write and read without pause', () => {
  it('changes the scopes of a provider by one restart', async () => {
    await oneShortRestart(team, bucket, 'scopes', async (attempt) => {
      const before = await team.podUids(server);
      await kubectl.apply(team.identityProvider({ scopes: ['openid', ['profile', 'roles', 'email'][attempt - 1]] }));
      await team.untilReplaced(server, before);
    });
    expect(await team.said('Tenant')).toContain('IdentityProviderChanged');
  });

  it('changes the image by one restart', async () => {
    await oneShortRestart(team, bucket, 'image', async (attempt) => {
      const before = await team.podUids(server);
      const wanted = attempt === 2 ? image : nextImage;
      await kubectl.apply(team.server({ image: wanted }));
      await team.untilReplaced(server, before);
      const [pod] = await team.pods(server);
      expect(pod?.spec?.['containers']).toEqual([expect.objectContaining({ image: wanted })]);
    });
    expect(await team.said('Tenant')).toContain('ImageChanged');
  });

  it('restarts nothing when the operator is restarted or installed again with unchanged resources', async () => {
    const before = [await team.podUids(server), await team.podUids(keys)];
    await kubectl.run(['rollout', 'restart', 'deployment/coffer-operator', '--namespace', operatorNamespace]);
    await untilOperatorRolledOut(kubectl);
    await team.untilSettled();
    expect([await team.podUids(server), await team.podUids(keys)]).toEqual(before);
  });

  it('is repaired by the next good spec after one whose image does not exist', async () => {
    const good = { image: nextImage };
    await kubectl.apply(team.server({ ...good, image: 'localhost/coffer:never-built' }));
    const broken = await team.untilCondition('tenant', 'demo', { status: 'False', reason: 'CannotStart' });
    expect(JSON.stringify(broken.status?.conditions)).toContain('never-built');
    await kubectl.apply(team.server(good));
    await team.untilSettled();
  });
});
