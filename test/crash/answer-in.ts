import { S3ServiceException } from '@aws-sdk/client-s3';

export type AnswerInError =
  /** Nobody answered: whatever was asked for may have been done. */
  | { readonly kind: 'gone' }
  /** Nothing was changed. */
  | { readonly kind: 'refused' }
  /** The server says that it is in trouble: what was asked for may have been done. */
  | { readonly kind: 'trouble'; readonly status: number | undefined; readonly code: string }
  | { readonly kind: 'unexpected' };

/** What the error of a call says about its effect. */
export function answerIn(error: unknown): AnswerInError {
  if (!(error instanceof S3ServiceException) || error.$response === undefined) return { kind: 'gone' };
  const status = error.$metadata.httpStatusCode;
  if (status === 412 || status === 507) return { kind: 'refused' };
  // Some operations begin their 200 before they know how they end.
  const inTrouble = (status ?? 0) >= 500 || ['InternalError', 'ServiceUnavailable', 'SlowDown'].includes(error.name);
  return inTrouble ? { kind: 'trouble', status, code: error.name } : { kind: 'unexpected' };
}
