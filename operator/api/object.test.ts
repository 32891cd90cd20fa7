import { describe, expect, it } from 'vitest';
import { secretValue } from '../render/render-context.ts';
import { type Secret, usesOf } from '../contract/secret.ts';

const secrets = (uses: Secret['uses']) =>
  new Map<string, Secret>([
    ['vault', { name: 'vault', namespace: 'team', data: { id: 'x' }, ...(uses === undefined ? {} : { uses }) }],
  ]);
const value = (uses: Secret['uses']) =>
  secretValue(secrets(uses), { name: 'vault', key: 'id' }, 'spec.clientSecretRef of IdentityProvider a', 'keystore');

describe('what a Secret may be used for', () => {
  it.each([
    ['a label', { labels: { 'coffer.dev/use-keystore': 'true' } }, ['keystore']],
    [
      'several labels',
      { labels: { 'coffer.dev/use-database': 'true', 'coffer.dev/use-ca-bundle': 'true' } },
      ['database', 'ca-bundle'],
    ],
    ['a type of its own', { type: 'coffer.dev/object-storage' }, ['object-storage']],
    ['the type of certificates', { type: 'kubernetes.io/tls' }, ['tls']],
    ['nothing', { type: 'Opaque', labels: { app: 'x' } }, []],
    ['a label that is not true', { labels: { 'coffer.dev/use-keystore': 'false' } }, []],
    ['the name of no use', { type: 'coffer.dev/anything', labels: { 'coffer.dev/use-all': 'true' } }, []],
  ])('is said by %s', (_, secret, uses) => {
    expect([...usesOf(secret)]).toEqual(uses);
  });

  it('bounds what a resource can name it for', () => {
    expect(value(usesOf({ type: 'coffer.dev/keystore' }))).toBe('x');
    expect(() => value(usesOf({ type: 'coffer.dev/identity-provider' }))).toThrow(
      'spec.clientSecretRef of IdentityProvider a names the Secret vault; its owner must allow it: ' +
        'kubectl label secret vault --namespace team coffer.dev/use-keystore=true',
    );
  });

  it('is not checked in the local runtime, where the author of a manifest writes its Secrets', () => {
    expect(value(undefined)).toBe('x');
  });

  it('does not tell which keys a Secret has that is not allowed', () => {
    const ref = { name: 'vault', key: 'absent' };
    expect(() => secretValue(secrets(new Set()), ref, 'f', 'setting')).toThrow('its owner must allow it');
  });
});
