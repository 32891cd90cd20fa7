import { noAnswer, StoreError, type CallFailure } from '../../store/store-error.ts';

const conditions = new Set([
  'BlobAlreadyExists',
  'ConditionNotMet',
  'TargetConditionNotMet',
  'UnauthorizedBlobOverwrite',
]);
const gone = new Set(['BlobNotFound', 'ResourceNotFound']);
/** The code is one of the service, or a temporary state of the blob. */
const passing = new Set(['ServerBusy', 'InternalError', 'OperationTimedOut', 'BlobBeingRehydrated', 'Md5Mismatch']);

/** The fields of the errors of the SDK. */
interface Answered extends Error {
  readonly statusCode?: number;
  readonly code?: string;
  readonly details?: { readonly errorCode?: string };
}

/**
 * Classifies an error of the SDK or of a socket. Returns undefined for any other error, which is a defect and must be rethrown.
 *
 * `timeoutMs` is the timeout of the call, which the code of a late answer names.
 *
 * @see https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes
 */
export function azureFailure(error: unknown, timeoutMs?: number): CallFailure | undefined {
  if (!(error instanceof Error) || error instanceof StoreError) return undefined;
  const { statusCode, code, details } = error as Answered;
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return { kind: 'passing', code: noAnswer(timeoutMs) };
  if (statusCode === undefined) return socketFailure(code);
  // A header has the code, also where HEAD leaves no body. An answer without it is that of a gateway, and may pass.
  const name = details?.errorCode;
  if (name === undefined || name === '') return { kind: 'passing', code: `HTTP ${statusCode}` };
  if (conditions.has(name)) return { kind: 'condition', code: name };
  if (name === 'InvalidRange') return { kind: 'range', code: name };
  if (statusCode >= 500 || statusCode === 429 || passing.has(name)) return { kind: 'passing', code: name };
  if (gone.has(name)) return { kind: 'absent', code: name };
  return { kind: 'refused', code: name };
}

function socketFailure(code: string | undefined): CallFailure | undefined {
  // Node refuses an argument: a repetition would not help.
  if (code === undefined || (code.startsWith('ERR_') && code !== 'ERR_STREAM_PREMATURE_CLOSE')) return undefined;
  return { kind: /CERT|^UNABLE_TO_VERIFY/.test(code) ? 'refused' : 'passing', code };
}
