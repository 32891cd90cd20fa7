import { ResultCodeError } from 'ldapts';
import { errorText } from '../../../platform/errors/system-error.ts';
import { IdentityError } from '../../auth/identity-error.ts';

/** @see https://www.rfc-editor.org/rfc/rfc4511#appendix-A */
const resultTexts: Readonly<Record<number, string>> = {
  1: 'operations error; Active Directory answers so to a search without a lookup account',
  3: 'time limit exceeded',
  4: 'size limit exceeded',
  7: 'authentication method not supported',
  8: 'stronger authentication required: use TLS, or server_starttls',
  10: 'referral to another server, which is not followed',
  11: 'administrative limit exceeded',
  13: 'confidentiality required: use TLS, or server_starttls',
  32: 'no such entry, or the lookup account may not see it',
  34: 'invalid DN syntax',
  48: 'inappropriate authentication',
  49: 'wrong DN or password',
  50: 'insufficient access rights',
  51: 'busy',
  52: 'unavailable',
  53: 'unwilling to perform',
};

/** Parts of the messages of Node and ldapts, which name no setting, and what the operator can do. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/self[- ]signed certificate|unable to (?:get|verify)/, 'name its authority in ca_file'],
  [
    /before secure TLS connection|wrong version number|packet length too long/,
    'the port speaks no TLS from the start: set server_starttls, or use the port for TLS (636)',
  ],
  [
    /Connection closed before message response/,
    'if the port expects TLS, set neither server_starttls nor server_insecure',
  ],
];

/** Describes an error of the directory or of its connection, without a full stop. The library has an empty message for most result codes. */
export function ldapErrorText(error: unknown): string {
  if (error instanceof ResultCodeError) {
    const said = error.message.replace(/\s*Code: 0x[0-9a-f]+\s*$/i, '').replace(/[\s.\0]+$/, '');
    const text = resultTexts[error.code];
    const words = [text, said].filter((each) => each !== undefined && each !== '').join(': ');
    return `${words === '' ? 'refused' : words} (LDAP ${error.code})`;
  }
  const message = errorText(error).replace(/[\s.]+$/, '');
  const [, hint] = hints.find(([pattern]) => pattern.test(message)) ?? [];
  return hint === undefined ? message : `${message} (${hint})`;
}

/** The error of a directory that refuses the lookup account. Only administrators may see its DN: callers who sign in get no `dn`. */
export function lookupRefused(cause: ResultCodeError, dn?: string): IdentityError {
  const account = dn === undefined ? 'the lookup account' : `the lookup account ${dn}`;
  const message = `The directory refuses ${account}: ${ldapErrorText(cause)}.`;
  return new IdentityError('directory-unavailable', message, { cause });
}
