import { element, type Xml } from '../../protocol/s3/xml-writer.ts';
import type { Answer } from '../http/contract/request.ts';
import { displayNameOf } from '../auth/principal.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import { RequestError } from '../../protocol/request-error.ts';
import { isTooManyGuesses } from '../auth/guess-limits.ts';
import { withoutAddresses } from './without-addresses.ts';

/**
 * Codes of the STS API with their status.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html
 */
const stsErrorCodes = {
  AccessDenied: 403,
  /** The signer's session token has expired, as in S3. */
  ExpiredToken: 400,
  /** The provider's token has expired. SDKs know only this code. */
  ExpiredTokenException: 400,
  /** SDKs retry on this code. */
  IDPCommunicationError: 400,
  InternalError: 500,
  InsecureConnection: 400,
  InvalidAction: 400,
  InvalidClientCertificate: 400,
  InvalidClientGrantsToken: 400,
  InvalidClientTokenId: 403,
  InvalidParameterValue: 400,
  InvalidIdentityToken: 400,
  MalformedPolicyDocument: 400,
  MissingParameter: 400,
  NotImplemented: 501,
  RequestTimeTooSkewed: 403,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  /** SDKs retry later on this code and status. */
  Throttling: 429,
} as const;

export type StsErrorCode = keyof typeof stsErrorCodes;

export function stsError(code: StsErrorCode, message: string, options?: ErrorOptions): RequestError {
  return new RequestError('sts', code, stsErrorCodes[code], message, options);
}

export function isStsError(error: unknown): error is RequestError {
  return error instanceof RequestError && error.api === 'sts';
}

/** Translates `too-many-guesses` to Throttling. */
export async function asThrottling<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!isTooManyGuesses(error)) throw error;
    throw stsError('Throttling', error.message, { cause: error });
  }
}

const namespace = { xmlns: 'https://sts.amazonaws.com/doc/2011-06-15/' };

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_Credentials.html */
export function credentialsElement({ accessKey, secretKey, sessionToken, principal }: TemporaryCredentials): Xml {
  return element('Credentials', [
    element('AccessKeyId', accessKey),
    element('SecretAccessKey', secretKey),
    element('SessionToken', sessionToken),
    element('Expiration', principal.expiration),
  ]);
}

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumedRoleUser.html */
export function assumedRoleUser(roleArn: string, { principal }: TemporaryCredentials): Xml {
  const { subject } = principal;
  const id = subject.kind === 'federated' ? `${subject.parent}:${subject.displayName}` : displayNameOf(principal);
  return element('AssumedRoleUser', [
    element('Arn', roleArn),
    // MinIO's clients read the first one, AWS clients the second.
    element('AssumeRoleId', id),
    element('AssumedRoleId', id),
  ]);
}

export function stsAnswer(action: string, result: readonly Xml[], requestId: string): Answer {
  const metadata = element('ResponseMetadata', [element('RequestId', requestId)]);
  return answer(200, element(`${action}Response`, [element(`${action}Result`, [...result]), metadata], namespace));
}

export function stsErrorAnswer(error: RequestError, requestId: string): Answer {
  const details = element('Error', [
    element('Type', error.status < 500 ? 'Sender' : 'Receiver'),
    element('Code', error.code),
    element('Message', withoutAddresses(error.message)),
  ]);
  const document = element('ErrorResponse', [details, element('RequestId', requestId)], namespace);
  const { cause } = error;
  const wait: Record<string, string> = isTooManyGuesses(cause) ? { 'retry-after': String(cause.waitSeconds) } : {};
  return answer(error.status, document, wait);
}

function answer(status: number, root: Xml, more: Readonly<Record<string, string>> = {}): Answer {
  const bytes = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${root}`);
  return {
    status,
    // Caches must not keep credentials.
    headers: { 'content-type': 'application/xml', 'cache-control': 'no-store', ...more },
    body: { kind: 'bytes', bytes },
  };
}
