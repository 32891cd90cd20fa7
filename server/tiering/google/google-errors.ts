import { noAnswer, StoreError, type CallFailure } from '../../store/store-error.ts';

/**
 * Classifies an answer. `text` is its document, in JSON, or a sentence for a body that was asked for. Only the words of Google decide: any other
 * answer may be that of a gateway, and may pass.
 *
 * @see https://cloud.google.com/storage/docs/json_api/v1/status-codes
 */
export function failureOf(status: number, text: string, headers: Headers): CallFailure {
  if (status === 404 && /^No such object: |"message"\s*:\s*"No such object: /.test(text))
    return { kind: 'absent', code: 'NoSuchKey' };
  if (status === 416 && /^bytes \*\/\d+$/.test(headers.get('content-range') ?? ''))
    return { kind: 'range', code: 'InvalidRange' };
  const reason = reasonOf(text);
  if (reason === undefined || status === 408 || status === 410 || status === 429 || status >= 500)
    return { kind: 'passing', code: `HTTP ${status}` };
  if (status === 412) return { kind: 'condition', code: 'PreconditionFailed' };
  return { kind: 'refused', code: refusals[status] ?? reason };
}

const refusals: Readonly<Record<number, string>> = {
  401: 'InvalidCredentials',
  403: 'AccessDenied',
  404: 'NoSuchBucket',
};

/**
 * Classifies an error of a socket. Undefined for any other error, which is a defect. `timeoutMs` is the timeout of the call, which the code
 * of a late answer names.
 */
export function socketFailure(error: unknown, timeoutMs?: number): CallFailure | undefined {
  if (!(error instanceof Error) || error instanceof StoreError) return undefined;
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return { kind: 'passing', code: noAnswer(timeoutMs) };
  // `fetch` gives the reason in the cause.
  const { code } = (error.cause instanceof Error ? error.cause : error) as { readonly code?: string };
  if (code === undefined)
    return error.name === 'TypeError' ? { kind: 'passing', code: 'the connection ended' } : undefined;
  return { kind: /CERT|^UNABLE_TO_VERIFY/.test(code) ? 'refused' : 'passing', code };
}

function reasonOf(text: string): string | undefined {
  return /"reason"\s*:\s*"([A-Za-z]{1,64})"/.exec(text)?.[1];
}
