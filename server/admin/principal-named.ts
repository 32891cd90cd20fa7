import type { Principal } from '../access/principal.ts';
import { AdminError } from './admin-error.ts';
import type { AdminServices } from './services.ts';

/** Who is meant by the name of a user or by any access key. Rejects where nobody is, or nobody who gets in. */
export async function principalNamed(
  {
    access,
    identities,
  }: { readonly access: Pick<AdminServices['access'], 'credentials'> } & Pick<AdminServices, 'identities'>,
  name: string,
): Promise<Principal> {
  const credentials = await access.credentials(name);
  if (credentials !== undefined) return credentials.principal;
  const shown = JSON.stringify(name.slice(0, 128));
  if ((await identities.user(name))?.status === 'disabled' || (await identities.serviceAccount(name)) !== undefined) {
    throw new AdminError(
      'XCofferRefused',
      `${shown} is disabled or expired, or its owner is: every request of its is refused, whatever the policies say.`,
    );
  }
  throw new AdminError('XMinioAdminNoSuchUser', `There is no user and no access key ${shown}.`);
}
