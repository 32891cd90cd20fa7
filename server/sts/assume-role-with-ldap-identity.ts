import { IdentityProblem, OpenIdProblem } from '../../platform/openid/errors.ts';
import type { LdapDirectory } from '../federation/ldap/ldap-directory.ts';
import { LdapProblem, type LdapProblemCode, ldapSubject } from '../federation/ldap/ldap-user.ts';
import { GuessLimits } from '../auth/guess-limits.ts';
import type { RequestWatch } from '../http/contract/request.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import type { FederatedSubject } from '../auth/identities/subject.ts';
import type { RequestOrigin } from '../auth/condition-keys.ts';
import { expirationIn, checkSession, type SessionRequest, sessionRequest, type StsAction } from './sts-request.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import { limited, StsError, type StsErrorCode, assumedRoleUser, credentialsElement } from './sts-error.ts';

interface LdapIdentityRequest extends SessionRequest {
  readonly name: string;
  readonly password: string;
  /** Of the request that asks. */
  readonly watch?: RequestWatch | undefined;
  readonly from: RequestOrigin;
}

/** Errors with `StsError`; its cause is the `LdapProblem` where the directory did not let the person in. */
export type AssumeRoleWithLdapIdentity = (request: LdapIdentityRequest) => Promise<TemporaryCredentials>;

interface LdapIdentityServices extends GrantServices {
  /** Absent where none is configured. */
  readonly directory?: Pick<LdapDirectory, 'authenticate'>;
  readonly identities: Pick<IdentityReader, 'policiesOf'>;
  readonly clock: () => Date;
}

/** Seconds. */
const defaultDuration = 3_600;

const codes: Readonly<Record<LdapProblemCode, StsErrorCode>> = {
  refused: 'AccessDenied',
  ambiguous: 'InvalidParameterValue',
  unavailable: 'IDPCommunicationError',
  'not-configured': 'InvalidParameterValue',
};

/** Credentials for whoever has a name and a password at the directory, and something attached to their DN or one of their groups. */
export function createAssumeRoleWithLdapIdentity(services: LdapIdentityServices): AssumeRoleWithLdapIdentity {
  const limits = new GuessLimits(services.clock);
  return async ({ name, password, watch, from, ...session }) => {
    const { directory } = services;
    checkSession(session);
    if (directory === undefined) {
      throw new StsError('InvalidParameterValue', 'No directory is configured; set SVC_IDENTITY_LDAP_SERVER_ADDR.');
    }
    const asked = { source: 'ldap', provider: 'ldap' } as const;
    // Without the name until the directory knows it: people type their password into the wrong field.
    watch?.bearerIs(asked);
    const attempt = { from, account: accountOf(name) };
    const subject = await limited(() =>
      limits.attempt(attempt, () => admitted(directory, name, password), isLdapGuess),
    );
    watch?.bearerIs({ ...asked, subject: subject.parent, name: subject.displayName, claims: subject.claims });
    await checkRights(services.identities, subject);
    const now = services.clock();
    try {
      return await grantCredentials(services, {
        action: 'AssumeRoleWithLDAPIdentity',
        watch,
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

/** Whether the error says that the name and the password do not belong together. */
export function isLdapGuess(error: unknown): boolean {
  const cause = error instanceof StsError ? error.cause : undefined;
  return cause instanceof LdapProblem && (cause.code === 'refused' || cause.code === 'ambiguous');
}

/** One name for all that a directory takes for the same: it compares without regard to case, blanks and invisible characters. */
function accountOf(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll(/\p{C}/gu, '').replaceAll(/\s+/g, ' ').trim();
}

/** The directory is asked once more before credentials are made: meanwhile the person may have gone, or the directory. */
function gone(error: unknown): unknown {
  if (error instanceof IdentityProblem) return new StsError('AccessDenied', error.message, { cause: error });
  if (error instanceof OpenIdProblem) return new StsError('IDPCommunicationError', error.message, { cause: error });
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
    if (!(error instanceof LdapProblem)) throw error;
    throw new StsError(codes[error.code], error.message, { cause: error });
  }
}

async function checkRights(identities: Pick<IdentityReader, 'policiesOf'>, subject: FederatedSubject): Promise<void> {
  if ((await identities.policiesOf(subject)).length > 0) return;
  const groups = subject.targets.flatMap((target) => (target.kind === 'ldap-group' ? [target.name] : []));
  const of =
    groups.length === 0 ? 'who is in no group' : `nor to a group of theirs (${groups.slice(0, 20).join('; ')})`;
  throw new StsError(
    'InvalidParameterValue',
    `No policy is attached to the LDAP user ${subject.parent}, ${of}; credentials will not be generated. ` +
      'Attach one: mc idp ldap policy attach ALIAS POLICY --user DN (or --group DN).',
  );
}

/** `AssumeRoleWithLDAPIdentity` as clients send it. */
export function ldapIdentityAction(assume: AssumeRoleWithLdapIdentity): StsAction {
  return {
    name: 'AssumeRoleWithLDAPIdentity',
    async serve(parameters, request) {
      const [name, password] = [parameters.required('LDAPUsername'), parameters.required('LDAPPassword')];
      const granted = await assume({
        name,
        password,
        watch: request.watch,
        from: request,
        ...sessionRequest(parameters),
      });
      return { result: [assumedRoleUser('', granted), credentialsElement(granted)], granted };
    },
  };
}
