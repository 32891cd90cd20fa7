import { describe, expect, it } from 'vitest';
import { provider } from '../../test/support/operator/reconciler-harness.ts';
import { checkClients } from './check-clients.ts';

const kept = { name: 'kept', key: 'client-secret' };

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
