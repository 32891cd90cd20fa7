import type { ErrorRequestHandler, Request, Response } from 'express';
import { z } from 'zod';
import { redactText } from '../../../platform/output/redact-secrets.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { asAdminError } from '../../administration/admin-error.ts';
import { isStoreError, sealedRecordsErrors, isStoreUnavailable } from '../../store/store-error.ts';
import type { ErrorAnswer } from '../../../protocol/console/answers.ts';
import type { ConsoleLog } from '../services.ts';
import { auditOf } from './request-audit.ts';
import { IdentityError, type IdentityErrorCode } from '../../auth/identity-error.ts';
import { RequestError } from '../../../protocol/request-error.ts';
import { KeyServiceError } from '../../../platform/key-service/exchange.ts';
import { RepeatedLines } from '../../../platform/output/repeated-lines.ts';

const statuses = {
  BadRequest: 400,
  CrossSiteRequest: 403,
  NotSignedIn: 401,
  SignInRefused: 401,
  TooManyAttempts: 429,
  NotFound: 404,
  TooLarge: 413,
  Exists: 409,
  DirectoryUnavailable: 503,
  Busy: 503,
} as const;

type ConsoleErrorCode = keyof typeof statuses;

/** Makes an error of the console's API. The web application shows `message` to the user. */
export function consoleError(
  code: ConsoleErrorCode,
  message: string,
  options?: ErrorOptions & { readonly field?: string },
): RequestError {
  return new RequestError('console', code, statuses[code], message, options);
}

export function isConsoleError(error: unknown): error is RequestError {
  return error instanceof RequestError && error.api === 'console';
}

/** `by` describes the account in the message, for example `access key`. */
export function tooManyAttempts(response: Response, error: IdentityError, by: string): RequestError {
  response.set('retry-after', String(error.waitSeconds));
  const message = `Too many attempts with this ${by}. Try again in ${error.waitSeconds} s.`;
  return consoleError('TooManyAttempts', message, { cause: error });
}

/** Returns the answer for an error; undefined where only the log may describe it. */
export function errorAnswerOf(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  const known = knownErrorAnswer(error);
  const field = isConsoleError(error) ? error.field : fieldOf(error);
  return known === undefined || field === undefined ? known : { ...known, field };
}

function knownErrorAnswer(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  if (error instanceof S3Error) return { status: error.status, code: error.wireCode, message: error.message };
  const request = error instanceof RequestError ? error : asAdminError(error);
  if (request !== undefined) return { status: request.status, code: request.code, message: request.message };
  if (error instanceof z.ZodError) {
    return { status: 400, code: 'BadRequest', message: z.prettifyError(error).slice(0, 1000) };
  }
  return unavailableAnswer(error) ?? parserAnswer(error);
}

/** The store or the key service does not answer. The client can retry. */
function unavailableAnswer(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isStoreError(error, 'unpromoted')) return { status: 503, code: 'ServiceUnavailable', message: error.message };
  const isUnavailable = isStoreUnavailable(error) || isStoreError(error, ...sealedRecordsErrors);
  const isOfDataKey = error instanceof KeyServiceError && error.code !== 'invalid-request';
  if (!isUnavailable && !isOfDataKey) return undefined;
  return {
    status: 503,
    code: 'ServiceUnavailable',
    message: 'The server cannot reach its store or key service. Try again in a moment. Its log has the reason.',
  };
}

/** Errors of express and its JSON parser carry a status. Their messages are not shown. */
function parserAnswer(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  if (error.status < 400 || error.status > 499) return undefined;
  if (error.status === 413) return { status: 413, code: 'TooLarge', message: 'The request body is too large.' };
  return { status: error.status, code: 'BadRequest', message: 'The request cannot be read: check its path and body.' };
}

/**
 * Answers every error as `{code, message}`. An unexpected error is logged and answered with 500. Of a store or key service that does not
 * answer, lines that repeat are left out. Any other line may name what is damaged.
 */
export function errorHandler(log: ConsoleLog): ErrorRequestHandler {
  const failures = new RepeatedLines(log);
  return (error: unknown, request: Request, response: Response, _next) => {
    const known = errorAnswerOf(error);
    if (known === undefined || known.status >= 500) {
      const fields = { err: error, method: request.method, path: request.path };
      const text = 'the console failed to answer a request';
      if (known?.status === 503) failures.write('error', fields, text);
      else log.error(fields, text);
    }
    auditOf(response)?.setError({ code: known?.code ?? 'InternalError', message: known?.message ?? '' });
    if (response.headersSent) {
      // The client must not take a partial answer for a complete one.
      response.destroy();
      return;
    }
    const { status, ...answer } = known ?? {
      status: 500,
      code: 'InternalError',
      message: 'The server failed. Its log has the reason.',
    };
    // The rest of an unread body would block the connection.
    if (!request.complete) response.set('connection', 'close');
    response.status(status).json({ ...answer, message: redactText(answer.message) } satisfies ErrorAnswer);
  };
}

const fieldsByIdentityError: Partial<Readonly<Record<IdentityErrorCode, string>>> = {
  'no-such-user': 'name',
  'no-such-group': 'name',
  'access-key-in-use': 'name',
  'invalid-access-key': 'name',
  'invalid-secret-key': 'secretKey',
  'invalid-name': 'name',
  'invalid-expiration': 'expires',
  'no-such-policy': 'policies',
  'policy-changed': 'name',
};

/** Returns the field of the form that caused an error; undefined if it was none or several. */
function fieldOf(error: unknown): string | undefined {
  if (error instanceof z.ZodError) return error.issues.length === 1 ? error.issues[0]?.path[0]?.toString() : undefined;
  if (error instanceof S3Error && error.code === 'MalformedPolicy') return 'policy';
  return error instanceof IdentityError ? fieldsByIdentityError[error.code] : undefined;
}
