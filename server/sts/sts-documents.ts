import { element } from '../../protocol/s3/xml-writer.ts';
import type { Xml } from '../../protocol/s3/xml-writer.ts';
import { displayNameOf } from '../access/subject-of.ts';
import type { Answer } from '../access/answer.ts';
import type { AssumedRole } from './assume-role-with-web-identity.ts';
import type { StsError } from './sts-error.ts';

const namespace = { xmlns: 'https://sts.amazonaws.com/doc/2011-06-15/' };

/** @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html#API_AssumeRoleWithWebIdentity_Examples */
export function assumedRoleAnswer(role: AssumedRole, requestId: string): Answer {
  const { accessKey, secretKey, sessionToken, principal } = role.credentials;
  const { subject } = principal;
  const assumedRoleId =
    subject.kind === 'federated' ? `${subject.parent}:${subject.displayName}` : displayNameOf(principal);
  const result = element('AssumeRoleWithWebIdentityResult', [
    element('AssumedRoleUser', [
      element('Arn', role.roleArn),
      // MinIO's clients read the first, those of AWS the second.
      element('AssumeRoleId', assumedRoleId),
      element('AssumedRoleId', assumedRoleId),
    ]),
    element('Credentials', [
      element('AccessKeyId', accessKey),
      element('SecretAccessKey', secretKey),
      element('SessionToken', sessionToken),
      element('Expiration', role.expiration),
    ]),
    element('SubjectFromWebIdentityToken', role.subject),
    element('Audience', role.audience),
    element('Provider', role.issuer),
  ]);
  const metadata = element('ResponseMetadata', [element('RequestId', requestId)]);
  return answer(200, element('AssumeRoleWithWebIdentityResponse', [result, metadata], namespace));
}

export function stsErrorAnswer(error: StsError, requestId: string): Answer {
  const details = element('Error', [
    element('Type', error.status < 500 ? 'Sender' : 'Receiver'),
    element('Code', error.code),
    element('Message', error.message),
  ]);
  return answer(error.status, element('ErrorResponse', [details, element('RequestId', requestId)], namespace));
}

function answer(status: number, root: Xml): Answer {
  const bytes = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${root}`);
  return {
    status,
    // Credentials must not stay in a cache on the way.
    headers: { 'content-type': 'application/xml', 'cache-control': 'no-store' },
    body: { kind: 'bytes', bytes },
  };
}
