import { describe, expect, it } from 'vitest';
import type { Spec } from '../../../test/support/operator/rules/rule-cases.ts';
import { kms, tenant } from '../../../test/support/operator/reconciler-harness.ts';
import { imagesLike, rejectedPod, type PodBounds } from './pod-bounds.ts';

const bounds: PodBounds = {
  podSecurity: 'restricted',
  serviceAccounts: [],
  images: imagesLike('registry.example:5000/coffer:1.0'),
};
const rejected = (spec: Spec, more: Partial<PodBounds> = {}) => rejectedPod(tenant(spec), { ...bounds, ...more });

describe('what a tenant may ask of its pods', () => {
  it.each<[string, Spec]>([
    ['nothing', {}],
    ['another tag of the same repository', { image: 'registry.example:5000/coffer:2.0' }],
    ['a digest of it', { image: `registry.example:5000/coffer@sha256:${'a'.repeat(64)}` }],
    ['users of OpenShift', { podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } }],
    ['a port below 1024', { containerSecurityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } } }],
  ])('is %s', (_, spec) => {
    expect(rejected(spec)).toBeUndefined();
  });

  it.each<[string, Spec]>([
    ['spec.containerSecurityContext.privileged', { containerSecurityContext: { privileged: true } }],
    [
      'spec.containerSecurityContext.capabilities.add',
      { containerSecurityContext: { capabilities: { add: ['SYS_ADMIN'] } } },
    ],
    ['spec.containerSecurityContext.capabilities.drop', { containerSecurityContext: { capabilities: null } }],
    [
      'spec.containerSecurityContext.allowPrivilegeEscalation',
      { containerSecurityContext: { allowPrivilegeEscalation: null } },
    ],
    ['spec.containerSecurityContext.runAsUser', { containerSecurityContext: { runAsUser: 0 } }],
    ['spec.containerSecurityContext.procMount', { containerSecurityContext: { procMount: 'Unmasked' } }],
    ['spec.podSecurityContext.runAsNonRoot', { podSecurityContext: { runAsNonRoot: null } }],
    ['spec.podSecurityContext.runAsUser', { podSecurityContext: { runAsUser: 0 } }],
    ['spec.podSecurityContext.seccompProfile.type', { podSecurityContext: { seccompProfile: { type: 'Unconfined' } } }],
    ['spec.podSecurityContext.sysctls', { podSecurityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }],
    ['spec.podSecurityContext.seLinuxOptions.type', { podSecurityContext: { seLinuxOptions: { type: 'spc_t' } } }],
    ['spec.serviceAccountName', { serviceAccountName: 'admin' }],
    ['spec.image', { image: 'evil/coffer:1.0' }],
    ['spec.image', { image: 'registry.example:5000/coffer-evil:1.0' }],
  ])('is not %s', (field, spec) => {
    expect(rejected(spec)).toMatch(new RegExp(`^${field.replaceAll('.', '\\.')} of Tenant demo`));
  });

  it('is named with the setting that says so', () => {
    expect(rejected({ containerSecurityContext: { privileged: true } })).toContain(
      "is not allowed by the operator's setting podSecurity, which is restricted",
    );
    expect(rejected({ serviceAccountName: 'admin' })).toContain('allowedServiceAccounts (none)');
    expect(rejected({ image: 'x' })).toContain('allowedImages');
  });

  it('is more by a setting', () => {
    expect(rejected({ serviceAccountName: 'vault-a' }, { serviceAccounts: ['vault-*'] })).toBeUndefined();
    expect(rejected({ image: 'mirror/a/coffer:1' }, { images: ['mirror/*/coffer:*'] })).toBeUndefined();
    expect(rejected({ podSecurityContext: { runAsUser: 0 } }, { podSecurity: 'baseline' })).toBeUndefined();
    expect(rejected({ containerSecurityContext: { privileged: true } }, { podSecurity: 'baseline' })).toBeDefined();
    expect(rejected({ containerSecurityContext: { privileged: true } }, { podSecurity: 'privileged' })).toBeUndefined();
  });

  it('is the same of a KMSConfig', () => {
    expect(rejectedPod(kms({ serviceAccountName: 'admin' }), bounds)).toMatch(
      /^spec\.serviceAccountName of KMSConfig keys/,
    );
  });
});
