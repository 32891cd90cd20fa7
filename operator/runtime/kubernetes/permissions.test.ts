import { describe, expect, it } from 'vitest';
import { clusterPermissions, isPermitted, ownPermissions, policyRules, watchedPermissions } from './permissions.ts';

describe('policyRules', () => {
  it('joins what has the same group and verbs', () => {
    expect(
      policyRules([
        { type: 'secret', verbs: ['get'], why: '' },
        { type: 'tenant', subresource: 'status', verbs: ['patch'], why: '' },
        { type: 'service', verbs: ['get'], why: '' },
      ]),
    ).toEqual([
      { apiGroups: [''], resources: ['secrets', 'services'], verbs: ['get'] },
      { apiGroups: ['coffer.dev'], resources: ['tenants/status'], verbs: ['patch'] },
    ]);
  });
});

describe('the permissions of the operator', () => {
  const all = [...watchedPermissions, ...ownPermissions];
  const resources = policyRules(all).flatMap((rule) => rule.resources);

  it.each(['certificatesigningrequests', 'roles', 'rolebindings', 'clusterroles', 'nodes', 'namespaces', '*'])(
    'hold nothing on %s',
    (resource) => {
      expect(resources).not.toContain(resource);
    },
  );
  it('read nodes where the operator looks after the whole cluster, and no more', () => {
    expect(policyRules(clusterPermissions)).toEqual([{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]);
  });
  it('have no verb for all of a collection at once', () => {
    expect(all.flatMap(({ verbs }) => verbs as readonly string[])).not.toContain('deletecollection');
  });
  it.each(['tenants', 'identityproviders'])('let nobody write the spec of %s', (plural) => {
    for (const verb of ['create', 'update', 'patch', 'delete'] as const) {
      expect(isPermitted(all, verb, { plural })).toBe(false);
    }
  });
  it('allow what is listed, by verb and subresource', () => {
    expect(isPermitted(watchedPermissions, 'patch', { plural: 'tenants', subresource: 'status' })).toBe(true);
    expect(isPermitted(watchedPermissions, 'delete', { plural: 'pods' })).toBe(true);
    expect(isPermitted(watchedPermissions, 'delete', { plural: 'configmaps' })).toBe(false);
  });
});
