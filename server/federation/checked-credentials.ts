import { TokenError, OpenIdError } from '../../platform/openid/errors.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { UserStatusCheck } from './user-status-check.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';

type Check = Pick<UserStatusCheck, 'admit' | 'confirm'>;

/**
 * Wraps the store of temporary credentials: before it creates some, it checks that the external user still exists. No caller can forget the
 * check.
 */
export function checkedTemporary(temporary: TemporaryCredentialsStore, check: Check): TemporaryCredentialsStore {
  return {
    ...temporary,
    async create(request) {
      await check.admit(request.subject);
      const made = await temporary.create(request);
      try {
        await check.confirm(request.subject);
      } catch (error) {
        await temporary.revoke(made.accessKey);
        throw error;
      }
      return made;
    },
  };
}

/** Wraps the identities in the same way, because service accounts outlive every token. */
export function checkedIdentities(identities: Identities, check: Check): Identities {
  return {
    ...identities,
    boundedBy: (boundary) => checkedIdentities(identities.boundedBy(boundary), check),
    async createServiceAccount(account) {
      try {
        await check.admit(account.subject);
      } catch (error) {
        if (error instanceof TokenError || error instanceof OpenIdError) {
          throw new S3Error('AccessDenied', error.message, { cause: error });
        }
        throw error;
      }
      const made = await identities.createServiceAccount(account);
      try {
        await check.confirm(account.subject);
      } catch (error) {
        await identities.removeServiceAccount(made.accessKey);
        throw error;
      }
      return made;
    },
  };
}
