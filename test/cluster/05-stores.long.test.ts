import { describe, expect, it } from 'vitest';
import { renewCertificates, drainPodsOf } from '../support/cluster/pods.ts';
import { kubectl } from '../support/cluster/team.ts';
import { kinds, server, startStores, threeServers } from '../support/cluster/three-servers.ts';

startStores();

describe.each(kinds)('three servers on PostgreSQL with their blobs $where', (kind) => {
  const servers = threeServers(kind);
  const { team } = servers;

  it('change an identity provider', async () => {
    const before = await team.podUids(server);
    await servers.unnoticed(
      'identity provider',
      async () => {
        await kubectl.apply(team.identityProvider({ scopes: ['openid', 'profile'] }));
        await team.untilReplaced(server, before);
      },
      2,
    );
    expect((await team.events()).join('\n')).toContain('IdentityProviderChanged');
  });

  it('change their certificates, by no restart', async () => {
    const before = await team.podUids(server);
    await servers.unnoticed('certificates', () => renewCertificates(team), 3);
    expect(await team.podUids(server)).toEqual(before);
  }, 420_000);

  it('are drained from their node', async () => {
    await servers.unnoticed('drain', () => drainPodsOf(team, server), 2);
  });
});
