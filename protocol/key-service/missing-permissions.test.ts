import { describe, expect, it } from 'vitest';
import { missingPermissions } from './missing-permissions.ts';

const identity = 'a'.repeat(64);
const all = ['/v1/key/generate/k', '/v1/key/decrypt/k'];
const specified = [
  '/v1/key/create/*',
  '/v1/key/generate/*',
  '/v1/key/decrypt/*',
  '/v1/key/bulk/decrypt',
  '/v1/key/list',
];

describe('the permissions that a server lacks', () => {
  it('are none with the paths of the specification, and none for the superuser', () => {
    expect(missingPermissions({ identity, policy: { allow: specified } }, 'k')).toEqual([]);
    expect(missingPermissions({ identity, admin: true }, 'k')).toEqual([]);
  });

  it('are named by the path that the policy must allow', () => {
    expect(missingPermissions({ identity, policy: { allow: ['/v1/key/generate/*'] } }, 'k')).toEqual([
      '/v1/key/decrypt/k',
    ]);
  });

  it('are all of them where no policy is for the server', () => {
    expect(missingPermissions({ identity, policy: {} }, 'k')).toEqual(all);
  });

  it('count what is denied', () => {
    expect(missingPermissions({ identity, policy: { allow: specified, deny: ['/v1/key/decrypt/*'] } }, 'k')).toEqual([
      '/v1/key/decrypt/k',
    ]);
  });

  it('are read from the form of later key services too', () => {
    const later = { identity, policy: 'app', allow: { '/v1/key/generate/*': {} } };
    expect(missingPermissions(later, 'k')).toEqual(['/v1/key/decrypt/k']);
  });
});
