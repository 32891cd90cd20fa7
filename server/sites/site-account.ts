import type { Identities } from '../auth/identities/identities.ts';
import { siteAccount } from './site-state.ts';
import { adminError } from '../administration/admin-error.ts';

export type AccountStore = Pick<Identities, 'serviceAccount' | 'createServiceAccount' | 'updateServiceAccount'>;

/** Makes the access key with which the other sites call this one, or gives it this secret. Throws `RequestError` where it is another's. */
export async function ensureSiteAccount(identities: AccountStore, secretKey: string): Promise<void> {
  const known = await identities.serviceAccount(siteAccount);
  if (known === undefined) {
    await identities.createServiceAccount({
      subject: { kind: 'root' },
      accessKey: siteAccount,
      secretKey,
      description: 'Replication of sites. It is removed when this site leaves.',
    });
  } else if (known.subject.kind !== 'root') {
    throw adminError('XCofferRefused', `The access key ${siteAccount} belongs to another owner: remove it first.`);
  } else if (known.secretKey !== secretKey || known.status !== 'enabled' || known.policy !== undefined) {
    await identities.updateServiceAccount(siteAccount, { secretKey, status: 'enabled', policy: null });
  }
}
