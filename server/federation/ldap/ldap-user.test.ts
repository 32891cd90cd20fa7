import { describe, expect, it } from 'vitest';
import { federated } from '../../../test/support/auth/identities.ts';
import { ldapUser, ldapSubject } from './ldap-user.ts';

const ann = { name: 'ann', dn: 'uid=ann,dc=org', groups: ['cn=a,dc=org', 'cn=b,dc=org'] };

describe('ldapSubject', () => {
  it('holds the person, who comes out again', () => {
    expect(ldapUser(ldapSubject(ann))).toEqual(ann);
    expect(ldapUser(federated())).toBeUndefined();
  });
});
