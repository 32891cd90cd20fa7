import type { LdapDirectory } from '../access/ldap/ldap-directory.ts';
import { LdapProblem, type LdapProblemCode } from '../access/ldap/ldap-problem.ts';
import { ldapSubject } from '../access/ldap/ldap-subject.ts';
import type { IdentityReader } from '../identities/identities.ts';
import type { FederatedSubject } from '../identities/subject.ts';
import { expirationIn } from './credential-lifetime.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import { checkSession, sessionRequest } from './session-request.ts';
import type { StsAction } from './sts-action.ts';
import { assumedRoleUser, credentialsElement } from './sts-documents.ts';
import { StsError, type StsErrorCode } from './sts-error.ts';

export interface LdapIdentityServices extends GrantServices {
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
export function assumeRoleWithLdapIdentity(services: LdapIdentityServices): StsAction {
  return {
    name: 'AssumeRoleWithLDAPIdentity',
    async serve(parameters) {
      const { directory } = services;
      const [name, password] = [parameters.required('LDAPUsername'), parameters.required('LDAPPassword')];
      const session = sessionRequest(parameters);
      checkSession(session);
      if (directory === undefined) {
        throw new StsError('InvalidParameterValue', 'No directory is configured; set SVC_IDENTITY_LDAP_SERVER_ADDR.');
      }
      const subject = await admitted(directory, name, password);
      await checkRights(services.identities, subject);
      const now = services.clock();
      const granted = await grantCredentials(services, {
        action: 'AssumeRoleWithLDAPIdentity',
        subject,
        parentName: subject.parent,
        session,
        expiration: expirationIn(session.durationSeconds ?? defaultDuration, now),
        now,
      });
      return { result: [assumedRoleUser('', granted), credentialsElement(granted)], granted };
    },
  };
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
