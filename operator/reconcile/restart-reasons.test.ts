import { describe, expect, it } from 'vitest';
import type { RestartInput } from '../workload.ts';
import { describeRestarts, restartReasons } from './restart-reasons.ts';

const owner = { kind: 'Tenant', name: 'demo' } as const;
const input = (kind: RestartInput['of']['kind'], name: string, field: string, fingerprint: string): RestartInput => ({
  reason:
    kind === 'Secret' ? 'SecretChanged' : kind === 'IdentityProvider' ? 'IdentityProviderChanged' : 'TenantChanged',
  field,
  of: { kind, name },
  fingerprint,
});
const scopes = (fingerprint: string) => input('IdentityProvider', 'a', 'spec.scopes', fingerprint);
const url = input('IdentityProvider', 'a', 'spec.configUrl', '1');

describe('restart reasons', () => {
  it('are none where nothing changed', () => {
    expect(restartReasons([scopes('1')], [scopes('1')], owner)).toEqual([]);
  });
  it('name the field and what it belongs to', () => {
    expect(describeRestarts(restartReasons([scopes('1')], [scopes('2')], owner))).toBe(
      'IdentityProviderChanged: spec.scopes of IdentityProvider a',
    );
  });
  it('name every field that changed', () => {
    const before = [scopes('1'), input('Tenant', 'demo', 'spec.tls', '1')];
    const after = [scopes('2'), input('Tenant', 'demo', 'spec.tls', '2')];
    expect(restartReasons(before, after, owner)).toHaveLength(2);
  });
  it('name a provider that was added once, not each of its fields', () => {
    expect(restartReasons([], [scopes('1'), url, input('Secret', 's', 'key k', '1')], owner)).toEqual([
      { reason: 'IdentityProviderAdded', field: 'IdentityProvider a' },
    ]);
  });
  it('name a provider that was removed once', () => {
    expect(restartReasons([scopes('1'), url], [], owner)).toEqual([
      { reason: 'IdentityProviderRemoved', field: 'IdentityProvider a' },
    ]);
  });
  it("name the owner's first field as a field, not as an added resource", () => {
    expect(restartReasons([], [input('Tenant', 'demo', 'spec.tls', '1')], owner)).toEqual([
      { reason: 'TenantChanged', field: 'spec.tls of Tenant demo' },
    ]);
  });
  it('leave out the Secret that another one replaced: the field that names it tells', () => {
    const before = [url, input('Secret', 'old', 'key k', '1')];
    const after = [{ ...url, fingerprint: '2' }, input('Secret', 'new', 'key k', '1')];
    expect(restartReasons(before, after, owner).map(({ field }) => field)).toEqual([
      'spec.configUrl of IdentityProvider a',
    ]);
  });
});
