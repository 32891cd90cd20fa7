import { expect, it } from 'vitest';
import { openIdUser } from './openid-user.ts';

const claims = { preferred_username: 'ann', email: 'ann@example.com', upn: 'a.n', oid: '42', groups: ['x'], empty: '' };

it.each([
  [{}, claims, { displayName: 'ann', subjectId: 'sub' }],
  [{}, { email: 'ann@example.com' }, { displayName: 'ann@example.com', subjectId: 'sub' }],
  [{}, {}, { displayName: 'sub', subjectId: 'sub' }],
  [{ userReadableClaim: 'upn', userIdClaim: 'oid' }, claims, { displayName: 'a.n', subjectId: '42' }],
  [{ userReadableClaim: 'groups', userIdClaim: 'empty' }, claims, { displayName: 'sub', subjectId: 'sub' }],
  [{ userReadableClaim: 'toString', userIdClaim: '__proto__' }, claims, { displayName: 'sub', subjectId: 'sub' }],
])('names somebody by %j', (settings, given, expected) => {
  expect(openIdUser(given, 'sub', settings)).toEqual(expected);
});
