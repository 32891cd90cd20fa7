import { element } from '../../protocol/s3/xml-writer.ts';
import type { Xml } from '../../protocol/s3/xml-writer.ts';
import type { Answer } from '../access/answer.ts';
import { TooManyGuesses } from '../access/guess-limits.ts';
import { displayNameOf } from '../access/subject-of.ts';
import type { TemporaryCredentials } from '../access/temporary-credentials-record.ts';
import type { StsError } from './sts-error.ts';

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
    // MinIO's clients read the first, those of AWS the second.
    element('AssumeRoleId', id),
    element('AssumedRoleId', id),
  ]);
}

export function stsAnswer(action: string, result: readonly Xml[], requestId: string): Answer {
  const metadata = element('ResponseMetadata', [element('RequestId', requestId)]);
  return answer(200, element(`${action}Response`, [element(`${action}Result`, [...result]), metadata], namespace));
}

export function stsErrorAnswer(error: StsError, requestId: string): Answer {
  const details = element('Error', [
    element('Type', error.status < 500 ? 'Sender' : 'Receiver'),
    element('Code', error.code),
    element('Message', error.message),
  ]);
  const document = element('ErrorResponse', [details, element('RequestId', requestId)], namespace);
  const { cause } = error;
  const wait: Record<string, string> =
    cause instanceof TooManyGuesses ? { 'retry-after': String(cause.waitSeconds) } : {};
  return answer(error.status, document, wait);
}

function answer(status: number, root: Xml, more: Readonly<Record<string, string>> = {}): Answer {
  const bytes = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${root}`);
  return {
    status,
    // Credentials must not stay in a cache on the way.
    headers: { 'content-type': 'application/xml', 'cache-control': 'no-store', ...more },
    body: { kind: 'bytes', bytes },
  };
}
