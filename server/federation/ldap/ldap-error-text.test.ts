import { BusyError, InvalidCredentialsError, NoSuchObjectError, UnknownStatusCodeError } from 'ldapts';
import { expect, it } from 'vitest';
import { ldapErrorText } from './ldap-error-text.ts';

it.each([
  [new InvalidCredentialsError(''), 'wrong DN or password (LDAP 49)'],
  [
    new InvalidCredentialsError('80090308: LdapErr: DSID-0C09042A, comment: data 52e, v3839\0'),
    'wrong DN or password: 80090308: LdapErr: DSID-0C09042A, comment: data 52e, v3839 (LDAP 49)',
  ],
  [new NoSuchObjectError(''), 'no such entry, or the lookup account may not see it (LDAP 32)'],
  [new BusyError('try later.'), 'busy: try later (LDAP 51)'],
  [new UnknownStatusCodeError(80, ''), 'refused (LDAP 80)'],
  [new Error('connect ECONNREFUSED 127.0.0.1:1'), 'connect ECONNREFUSED 127.0.0.1:1'],
  [
    new Error('self-signed certificate in certificate chain'),
    'self-signed certificate in certificate chain (name its authority in ca_file)',
  ],
  [
    Object.assign(new Error("ENOENT: no such file or directory, open '/ca.pem'"), {
      code: 'ENOENT',
      syscall: 'open',
      path: '/ca.pem',
    }),
    '/ca.pem: no such file or folder',
  ],
  ['odd', 'odd'],
])('describes %s', (error, text) => {
  expect(ldapErrorText(error)).toBe(text);
});
