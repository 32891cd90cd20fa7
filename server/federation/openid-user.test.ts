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
  // A user can often choose these claims.
  [{}, { preferred_username: 'a\u001b[31mn\u202En\r\n' }, { displayName: 'a[31mnn', subjectId: 'sub' }],
  [
    {},
    { preferred_username: '\u0000\u200F ', email: 'ann@example.com' },
    { displayName: 'ann@example.com', subjectId: 'sub' },
  ],
  [{}, { preferred_username: 'می\u200Cخواهم' }, { displayName: 'می\u200Cخواهم', subjectId: 'sub' }],
  [{}, { preferred_username: `${'x'.repeat(255)}😀` }, { displayName: 'x'.repeat(255), subjectId: 'sub' }],
])('names somebody by %j', (settings, given, expected) => {
  expect(openIdUser(given, 'sub', settings)).toEqual(expected);
});
