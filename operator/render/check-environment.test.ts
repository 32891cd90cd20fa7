import { describe, expect, it } from 'vitest';
import { provider } from '../../test/support/operator/reconciler-harness.ts';
import { checkClients, checkEnvironment } from './check-environment.ts';
import { secretFileVariable, variable } from './rendered-part.ts';
import { text } from '../runtime/contract/workload.ts';

const kept = { name: 'kept', key: 'client-secret' };

describe('checkEnvironment', () => {
  it('accepts settings that belong together', () => {
    expect(() =>
      checkEnvironment([
        secretFileVariable('SVC_STORE_RECORDS', text`/mounted/records`),
        variable('SVC_STORE_RECORDS_CA_FILE', text`/mounted/ca`),
      ]),
    ).not.toThrow();
  });

  it('refuses settings with which the server would not start', () => {
    expect(() => checkEnvironment([variable('SVC_IDENTITY_LDAP_LOOKUP_BIND_DN', 'cn=x')])).toThrow(
      'SVC_IDENTITY_LDAP_LOOKUP_BIND_DN has no effect without SVC_IDENTITY_LDAP_SERVER_ADDR',
    );
  });
});

describe('checkClients', () => {
  it('refuses two providers with one client', () => {
    const [one, other] = [provider('one'), provider('other')];
    expect(() => checkClients([{ provider: one, kept }])).not.toThrow();
    expect(() =>
      checkClients([
        { provider: one, kept },
        { provider: { ...other, spec: { ...other.spec, clientId: one.spec.clientId } }, kept },
      ]),
    ).toThrow('the IdentityProviders one and other have the same clientId');
  });
});
