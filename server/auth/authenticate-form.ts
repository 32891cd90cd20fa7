import { createHmac } from 'node:crypto';
import type { FormFields } from '../../protocol/s3/post/post-policy.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { algorithm, parseCredential, type SignatureClaim } from '../../protocol/sigv4/parse-authorization.ts';
import { sign, SigningKeys } from '../../protocol/sigv4/signing-key.ts';
import { formatTimestamp, parseTimestamp } from '../../protocol/sigv4/timestamp.ts';
import { hexBytes } from '../../protocol/sigv4/verify-signature.ts';
import { timingSafeEqual } from '../../protocol/timing-safe-equal.ts';
import { type AuthenticatorOptions, unsupportedMechanism, verified } from './access.ts';
import type { SignatureKind } from './condition-keys.ts';
import type { Principal, StoredCredentials } from './principal.ts';

/** The sender of a form whose signature was verified. */
export interface FormSender {
  readonly principal: Principal;
  readonly signature: SignatureKind;
  /** Milliseconds since the form was signed. Version 2 does not say when: such a form counts as old, so that a Deny of old ones holds. */
  readonly signatureAge: number;
}

/**
 * Verifies the signature of a form, which is that of its policy document. Resolves with undefined for a form without one, and rejects with
 * an S3Error that names what is wrong with the signature, key, token or clock.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-authentication-HTTPPOST.html
 */
export type AuthenticateForm = (form: FormFields) => Promise<FormSender | undefined>;

/** The statements of a form about its signature. */
interface FormClaim extends Pick<SignatureClaim, 'accessKey' | 'sessionToken'> {
  readonly age: number;
  readonly signature: string;
  /** Computes the signature with the secret key of the credentials. */
  readonly sign: (credentials: StoredCredentials) => string;
}

const ofVersion4 = ['x-amz-algorithm', 'x-amz-credential', 'x-amz-date', 'x-amz-signature'];
const ofVersion2 = ['awsaccesskeyid', 'signature'];

export function createFormAuthenticator(options: AuthenticatorOptions): AuthenticateForm {
  const clock = options.clock ?? (() => new Date());
  const signingKeys = new SigningKeys();
  return async (form) => {
    const isVersion4 = ofVersion4.some((name) => form.has(name));
    if (!isVersion4 && !ofVersion2.some((name) => form.has(name))) return undefined;
    if (!isVersion4 && options.signatureV2 === 'off') throw new S3Error('InvalidRequest', unsupportedMechanism);
    const claim = isVersion4 ? claimOfVersion4(form, { ...options, now: clock(), signingKeys }) : claimOfVersion2(form);
    const { credentials } = await verified(options.credentials, claim, (known) => {
      if (!timingSafeEqual(claim.sign(known), claim.signature)) throw mismatch(claim, form.get('policy')?.value ?? '');
    });
    return {
      principal: credentials.principal,
      signature: { version: isVersion4 ? 'SigV4' : 'SigV2', method: 'HtmlForm' },
      signatureAge: claim.age,
    };
  };
}

function claimOfVersion4(
  form: FormFields,
  { region, now, signingKeys }: { readonly region?: string; readonly now: Date; readonly signingKeys: SigningKeys },
): FormClaim {
  const given = required(form, 'X-Amz-Algorithm');
  if (given !== algorithm) throw invalid('X-Amz-Algorithm', given, `X-Amz-Algorithm only supports "${algorithm}"`);
  const credential = required(form, 'X-Amz-Credential');
  const fail = (why: string) => invalid('X-Amz-Credential', credential, why);
  const { accessKey, scope } = parseCredential(credential, fail);
  if (scope.service !== 's3') throw fail(`incorrect service "${scope.service}". This endpoint belongs to "s3".`);
  if (region !== undefined && scope.region !== region) {
    throw invalid('X-Amz-Credential', credential, `the region '${scope.region}' is wrong; expecting '${region}'`, {
      Region: region,
    });
  }
  const age = ageOf(required(form, 'X-Amz-Date'), scope.date, now);
  const signature = required(form, 'X-Amz-Signature');
  const policy = required(form, 'policy');
  return {
    accessKey,
    age: Math.max(0, age),
    ...tokenOf(form),
    signature,
    sign: ({ secretKey }) => sign(signingKeys.get(secretKey, scope), policy),
  };
}

/** Says what the client should have signed, in the elements of AWS: the policy as the form has it. */
function mismatch({ accessKey, signature }: FormClaim, policy: string): S3Error {
  return new S3Error('SignatureDoesNotMatch', undefined, {
    details: {
      AWSAccessKeyId: accessKey.slice(0, 128),
      StringToSign: policy,
      SignatureProvided: signature.slice(0, 128),
      StringToSignBytes: hexBytes(Buffer.from(policy).toString('latin1')),
    },
  });
}

/** A signature is valid for seven days, whatever the policy says. */
function ageOf(text: string, scopeDate: string, now: Date): number {
  const date = parseTimestamp(text);
  if (date === undefined) {
    throw invalid('X-Amz-Date', text, 'X-Amz-Date must be formated via ISO8601 Long format');
  }
  if (formatTimestamp(date).slice(0, 8) !== scopeDate) {
    throw invalid('X-Amz-Date', text, `the date "${scopeDate}" of the credential is not the day of X-Amz-Date`);
  }
  const age = now.getTime() - date.getTime();
  if (age < -allowedSkewMs) throw new S3Error('AccessDenied', `Request is not valid before ${date.toISOString()}.`);
  if (age > maxAgeMs) throw new S3Error('AccessDenied', 'Request has expired');
  return age;
}

const allowedSkewMs = 15 * 60_000;
const maxAgeMs = 7 * 24 * 3_600_000;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/HTTPPOSTForms.html */
function claimOfVersion2(form: FormFields): FormClaim {
  const accessKey = required(form, 'AWSAccessKeyId');
  const signature = required(form, 'Signature');
  const policy = required(form, 'policy');
  const by = ({ secretKey }: StoredCredentials) => createHmac('sha1', secretKey).update(policy).digest('base64');
  const age = Number.MAX_SAFE_INTEGER;
  return { accessKey, age, ...tokenOf(form), signature, sign: by };
}

function tokenOf(form: FormFields): { readonly sessionToken?: string } {
  const sessionToken = form.get('x-amz-security-token')?.value;
  return sessionToken === undefined ? {} : { sessionToken };
}

function required(form: FormFields, name: string): string {
  const value = form.get(name.toLowerCase())?.value;
  if (value !== undefined && value !== '') return value;
  throw missingField(name);
}

/** Makes the error for a form without a field that it needs, with the text of AWS. */
export function missingField(name: string): S3Error {
  return invalid(
    name,
    '',
    `Bucket POST must contain a field named '${name}'.  If it is specified, please check the order of the fields.`,
  );
}

function invalid(name: string, value: string, message: string, more: Record<string, string> = {}): S3Error {
  return new S3Error('InvalidArgument', message, {
    details: { ArgumentName: name, ArgumentValue: value.slice(0, 200), ...more },
  });
}
