import { describe, expect, it } from 'vitest';
import type { SiteDescription } from './peer-messages.ts';
import { planOfSites } from './plan-sites.ts';
import type { SiteGroup } from './site-state.ts';

const described = (name: string, more: Partial<SiteDescription> = {}) => ({
  site: { name, endpoint: `http://${name}:9000`, accessKey: 'root', secretKey: 'password' },
  description: { coffer: '0', deploymentId: `id-of-${name}`, buckets: 0, identityProviders: {}, ...more },
});

const groupOf = (id: string, ...names: readonly string[]): SiteGroup => ({
  id,
  updatedAt: 1,
  replicateIlmExpiry: false,
  sites: names.map((name) => ({
    name,
    endpoint: `http://${name}:9000`,
    deploymentId: `id-of-${name}`,
    bandwidthLimit: 0,
  })),
});
const group = groupOf('G', 'a', 'b');
const member = (name: string) => described(name, { group, buckets: 3 });

describe('the plan of a group of sites', () => {
  it('makes servers without a group sites of each other', () => {
    const { fresh, members } = planOfSites([described('a', { buckets: 2 }), described('b')], 'id-of-a', undefined);
    expect([...fresh]).toEqual(['id-of-a', 'id-of-b']);
    expect(members[1]).toEqual({ name: 'b', endpoint: 'http://b:9000', deploymentId: 'id-of-b' });
  });

  it('adds a server to the group of this one', () => {
    const { fresh } = planOfSites([member('a'), member('b'), described('c')], 'id-of-a', group);
    expect([...fresh]).toEqual(['id-of-c']);
  });

  it.each([
    ['one site alone', [described('a')], undefined, 'at least two'],
    ['a name twice', [described('a'), { ...described('b'), site: described('a').site }], undefined, 'the same name'],
    ['a server twice', [described('a'), described('b', { deploymentId: 'id-of-a' })], undefined, 'one server'],
    ['other servers only', [described('b'), described('c')], undefined, 'must be one of the sites'],
    ['buckets on two', [described('a', { buckets: 1 }), described('b', { buckets: 1 })], undefined, 'a, b have some'],
    ['buckets on a later one', [member('a'), member('b'), described('c', { buckets: 1 })], group, 'c has some'],
    ['a group without one of its sites', [member('a'), described('c')], group, 'b is missing'],
    ['a group that is whole', [member('a'), member('b')], group, 'already'],
    ['a site of another group', [described('a'), described('b', { group })], undefined, 'rm b --all'],
    [
      'other identity providers',
      [described('a', { identityProviders: { 'identity_openid:_ client_id': 'x' } }), described('b')],
      undefined,
      'identity_openid:_ client_id differs',
    ],
  ])('refuses %s', (_what, sites, known, message) => {
    expect(() => planOfSites(sites, 'id-of-a', known)).toThrow(message);
  });
});
