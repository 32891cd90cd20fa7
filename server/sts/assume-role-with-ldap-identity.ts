import { TokenError, OpenIdError } from '../../platform/openid/errors.ts';
import type { LdapDirectory } from '../federation/ldap/ldap-directory.ts';
import { foldName, ldapSubject } from '../federation/ldap/ldap-user.ts';
import { type DirectoryErrorCode, isDirectoryError } from '../auth/identity-error.ts';
import { GuessLimits } from '../auth/guess-limits.ts';
import type { AuditContext } from '../http/contract/request.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { FederatedSubject } from '../auth/identities/subject.ts';
import type { RequestOrigin } from '../auth/condition-keys.ts';
import { expirationIn, checkSession, type SessionRequest, sessionRequest, type StsAction } from './sts-request.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import {
  asThrottling,
  type StsErrorCode,
  assumedRoleUser,
  credentialsElement,
  stsError,
  isStsError,
} from './sts-error.ts';

interface LdapIdentityRequest extends SessionRequest {
  readonly name: string;
  readonly password: string;
  /** The audit context of the request. */
  readonly audit?: AuditContext | undefined;
  readonly from: RequestOrigin;
}

/** Rejects with `RequestError`; its cause is an `IdentityError` if the directory refused the sign-in. */
export type AssumeRoleWithLdapIdentity = (request: LdapIdentityRequest) => Promise<TemporaryCredentials>;

interface LdapIdentityServices extends GrantServices {
  /** Absent if none is configured. */
  readonly directory?: Pick<LdapDirectory, 'authenticate'>;
  readonly identities: Pick<IdentityReader, 'policiesOf'>;
  readonly clock: () => Date;
}

/** Seconds. */
const defaultDuration = 3_600;

const codes: Readonly<Record<DirectoryErrorCode, StsErrorCode>> = {
  'sign-in-refused': 'AccessDenied',
  'ambiguous-user': 'InvalidParameterValue',
  'directory-unavailable': 'IDPCommunicationError',
  'no-directory': 'InvalidParameterValue',
};

/** Credentials for a directory user with name and password. A policy must be attached to the DN or to a group. */
export function createAssumeRoleWithLdapIdentity(services: LdapIdentityServices): AssumeRoleWithLdapIdentity {
  const limits = new GuessLimits(services.clock);
  return async ({ name, password, audit, from, ...session }) => {
    const { directory } = services;
    checkSession(session);
    if (directory === undefined) {
      throw stsError('InvalidParameterValue', 'No directory is configured; set SVC_IDENTITY_LDAP_SERVER_ADDR.');
    }
    const asked = { source: 'ldap', provider: 'ldap' } as const;
    // The name is recorded only after the directory accepted it, because people type passwords into the wrong field.
    audit?.setBearer(asked);
    const attempt = { from, account: foldName(name) };
    const subject = await asThrottling(() =>
      limits.attempt(attempt, () => admitted(directory, name, password), isLdapGuess),
    );
    audit?.setBearer({ ...asked, subject: subject.parent, name: subject.displayName, claims: subject.claims });
    await checkRights(services.identities, subject);
    const now = services.clock();
    try {
      return await grantCredentials(services, {
        action: 'AssumeRoleWithLDAPIdentity',
        audit,
        from,
        subject,
        parentName: subject.parent,
        session,
        expiration: expirationIn(session.durationSeconds ?? defaultDuration, now),
        now,
      });
    } catch (error) {
      throw gone(error);
    }
  };
}

/** Reports whether the error means wrong credentials. */
export function isLdapGuess(error: unknown): boolean {
  const cause = isStsError(error) ? error.cause : undefined;
  return isDirectoryError(cause) && (cause.code === 'sign-in-refused' || cause.code === 'ambiguous-user');
}

/** The status check may find that the user or the directory is gone since. */
function gone(error: unknown): unknown {
  if (error instanceof TokenError) return stsError('AccessDenied', error.message, { cause: error });
  if (error instanceof OpenIdError) return stsError('IDPCommunicationError', error.message, { cause: error });
  return error;
}

async function admitted(
  directory: Pick<LdapDirectory, 'authenticate'>,
  name: string,
  password: string,
): Promise<FederatedSubject> {
  try {
    return ldapSubject(await directory.authenticate(name, password));
  } catch (error) {
    if (!isDirectoryError(error)) throw error;
    throw stsError(codes[error.code], error.message, { cause: error });
  }
}

async function checkRights(identities: Pick<IdentityReader, 'policiesOf'>, subject: FederatedSubject): Promise<void> {
  if ((await identities.policiesOf(subject)).length > 0) return;
  const groups = subject.targets.flatMap((target) => (target.kind === 'ldap-group' ? [target.name] : []));
  const of =
    groups.length === 0 ? 'who is in no group' : `nor to a group of theirs (${groups.slice(0, 20).join('; ')})`;
  throw stsError(
    'InvalidParameterValue',
    `No policy is attached to the LDAP user ${subject.parent}, ${of}; credentials will not be generated. ` +
      'Attach one: mc idp ldap policy attach ALIAS POLICY --user DN (or --group DN).',
  );
}

/** The action `AssumeRoleWithLDAPIdentity`. */
export function ldapIdentityAction(assume: AssumeRoleWithLdapIdentity): StsAction {
  return {
    name: 'AssumeRoleWithLDAPIdentity',
    async serve(parameters, request) {
      const [name, password] = [parameters.required('LDAPUsername'), parameters.required('LDAPPassword')];
      const granted = await assume({
        name,
        password,
        audit: request.audit,
        from: request,
        ...sessionRequest(parameters),
      });
      return { result: [assumedRoleUser('', granted), credentialsElement(granted)], granted };
    },
  };
}
