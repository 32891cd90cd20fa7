import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import { quoted, tryJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';

const failure = z.object({ __type: z.string(), message: z.string().optional(), Message: z.string().optional() });

interface AwsFailure {
  /** `ResourceExistsException`; `status 500` for an answer without a type. */
  readonly type: string;
  readonly message: string;
}

export function readAwsFailure({ status, text }: Pick<RemoteAnswer, 'status' | 'text'>): AwsFailure {
  const found = tryJson(text, failure);
  return {
    type: found?.__type.split('#').at(-1) ?? `status ${status}`,
    message: quoted(found?.message ?? found?.Message ?? text),
  };
}

/**
 * AWS sends throttling with the status 400.
 *
 * @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/CommonErrors.html
 */
export function isThrottled(answer: Pick<RemoteAnswer, 'status' | 'text'>): boolean {
  return (
    answer.status === 400 &&
    /^(Throttling|TooManyRequests|RequestLimitExceeded|LimitExceeded)/.test(readAwsFailure(answer).type)
  );
}

/** Reports whether the credentials are rejected, which may have been valid before. */
export function isLoginRejected(answer: Pick<RemoteAnswer, 'status' | 'text'>): boolean {
  return /^(ExpiredToken|UnrecognizedClient|InvalidClientTokenId)/.test(readAwsFailure(answer).type);
}

/** Reports whether the signature is rejected: the key or the clock is wrong. */
export function isSignatureRejected(answer: Pick<RemoteAnswer, 'status' | 'text'>): boolean {
  return /^(InvalidSignature|SignatureDoesNotMatch|RequestExpired|IncompleteSignature)/.test(
    readAwsFailure(answer).type,
  );
}

interface AwsFailureContext {
  /** `GetSecretValue`, which is also the name of the permission. */
  readonly action: string;
  readonly endpoint: string;
  readonly key?: string;
}

/** Converts an unexpected answer to an error. */
export function awsError({ action, endpoint, key }: AwsFailureContext, answer: RemoteAnswer): KeyError {
  const { type, message } = readAwsFailure(answer);
  const about = `${endpoint}${key === undefined ? '' : ` for the key "${key}"`}`;
  if (type.startsWith('AccessDenied')) {
    const lacking = /KMS/.test(message)
      ? 'its policy lacks kms:Decrypt or kms:GenerateDataKey for the KMS key of the secrets'
      : `its policy lacks "secretsmanager:${action}"`;
    return new KeyError('refused', `AWS Secrets Manager refuses this server at ${about}: ${lacking} (${message})`, {
      lacksPermission: true,
    });
  }
  if (isSignatureRejected(answer)) {
    return new KeyError(
      'refused',
      `AWS Secrets Manager takes no signature at ${about}: are secretkey and region right, and is the clock? (${message})`,
    );
  }
  if (isLoginRejected(answer)) {
    return new KeyError(
      'refused',
      `AWS Secrets Manager does not know the credentials at ${about}: ${type} (${message})`,
    );
  }
  return new KeyError('unavailable', `AWS Secrets Manager answers ${type} at ${about}: ${message}`);
}
