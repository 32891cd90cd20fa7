import { describe, expect, it } from 'vitest';
import { federated } from '../../identities/testing.ts';
import { ldapPersonState } from './check-ldap-person.ts';
import type { LdapPersonState } from './ldap-person-state.ts';
import { LdapProblem } from './ldap-problem.ts';
import { ldapPerson, ldapSubject } from './ldap-subject.ts';

const ann = { name: 'ann', dn: 'uid=ann,dc=org', groups: ['cn=a,dc=org', 'cn=b,dc=org'] };

describe('ldapSubject', () => {
  it('holds the person, who comes out again', () => {
    expect(ldapPerson(ldapSubject(ann))).toEqual(ann);
    expect(ldapPerson(federated())).toBeUndefined();
  });
});

describe('ldapPersonState', () => {
  it.each<[LdapPersonState, string]>([
    [{ kind: 'present' }, 'active'],
    [{ kind: 'gone', why: 'removed' }, 'gone'],
    [{ kind: 'gone', why: 'disabled' }, 'disabled'],
    [{ kind: 'gone', why: 'left-group' }, 'disabled'],
  ])('of %j is %s', async (state, kind) => {
    const directory = { stateOf: () => Promise.resolve(state) };
    expect(await ldapPersonState(directory, ldapSubject(ann))).toEqual({ kind });
  });

  it('cannot be told while the directory is away', async () => {
    const directory = { stateOf: () => Promise.reject(new LdapProblem('unavailable', 'no answer')) };
    await expect(ldapPersonState(directory, ldapSubject(ann))).rejects.toMatchObject({ code: 'Unreachable' });
  });

  it('is not asked about others', async () => {
    const directory = { stateOf: () => Promise.reject(new Error('asked')) };
    expect(await ldapPersonState(directory, federated())).toBeUndefined();
  });
});
