import type { ErrorRequestHandler, Request, Response } from 'express';
import { z } from 'zod';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { TooManyGuesses } from '../../auth/guess-limits.ts';
import { asAdminError } from '../../administration/admin-error.ts';
import { StsError } from '../../sts/sts-error.ts';
import type { ErrorAnswer } from '../contract/answers.ts';
import type { ConsoleLog } from '../services.ts';
import { watchOf } from './watch-visits.ts';
import { IdentityError, type IdentityErrorCode } from '../../auth/identities/names.ts';

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
} as const;

type ConsoleErrorCode = keyof typeof statuses;

/** A refusal of the console itself. `message` is shown to the person. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
  readonly code: ConsoleErrorCode;
  /** The field of the form that it is about. */
  readonly field: string | undefined;
  constructor(code: ConsoleErrorCode, message: string, options?: ErrorOptions & { readonly field?: string }) {
    super(message, options);
    this.code = code;
    this.field = options?.field;
  }
}

/** `by`: what the account is called, for people. */
export function tooManyAttempts(response: Response, error: TooManyGuesses, by: string): ConsoleError {
  response.set('retry-after', String(error.waitSeconds));
  const message = `Too many attempts with this ${by}. Try again in ${error.waitSeconds} s.`;
  return new ConsoleError('TooManyAttempts', message, { cause: error });
}

/** What an error is to the caller; undefined for one that only the log may tell. */
export function explain(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  const known = explainKnown(error);
  const field = error instanceof ConsoleError ? error.field : fieldOf(error);
  return known === undefined || field === undefined ? known : { ...known, field };
}

function explainKnown(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  if (error instanceof ConsoleError) return { status: statuses[error.code], code: error.code, message: error.message };
  if (error instanceof S3Error) return { status: error.status, code: error.wireCode, message: error.message };
  if (error instanceof StsError) return { status: error.status, code: error.code, message: error.message };
  const admin = asAdminError(error);
  if (admin !== undefined) return { status: admin.status, code: admin.code, message: admin.message };
  if (error instanceof z.ZodError) {
    return { status: 400, code: 'BadRequest', message: z.prettifyError(error).slice(0, 1000) };
  }
  return explainUnavailable(error) ?? explainParser(error);
}

/** The store or the key service is away: it will come back, and a person should know what is waited for. */
function explainUnavailable(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  if (!(error instanceof Error)) return undefined;
  const unavailable = ['StoreUnavailable', 'KeySourceError', 'SealedRecordsError'];
  if (!unavailable.includes(error.name)) return undefined;
  return {
    status: 503,
    code: 'ServiceUnavailable',
    message: 'The server cannot reach its store or key service now. Try again in a moment; its log has the reason.',
  };
}

/** What express and its JSON parser throw carries a status and says whether its message may be shown. */
function explainParser(error: unknown): (ErrorAnswer & { readonly status: number }) | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  if (error.status < 400 || error.status > 499) return undefined;
  if (error.status === 413) return { status: 413, code: 'TooLarge', message: 'The request body is too large.' };
  return { status: error.status, code: 'BadRequest', message: 'The request cannot be read: check its path and body.' };
}

/** Writes every error as `{code, message}`; what nobody foresaw goes to the log and becomes a plain 500. */
export function errorHandler(log: ConsoleLog): ErrorRequestHandler {
  return (error: unknown, request: Request, response: Response, _next) => {
    const known = explain(error);
    if (known === undefined || known.status >= 500) {
      log.error({ err: error, method: request.method, path: request.path }, 'the console failed to answer a request');
    }
    watchOf(response)?.refused({ code: known?.code ?? 'InternalError', message: known?.message ?? '' });
    if (response.headersSent) {
      // Half an answer must not look whole.
      response.destroy();
      return;
    }
    const { status, ...answer } = known ?? {
      status: 500,
      code: 'InternalError',
      message: 'The server failed. Its log has the reason.',
    };
    // A body that nobody reads would keep the connection busy.
    if (!request.complete) response.set('connection', 'close');
    response.status(status).json(answer satisfies ErrorAnswer);
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

/** The field of a form that a refusal is about, so that it is shown there; undefined where it is about none, or several. */
function fieldOf(error: unknown): string | undefined {
  if (error instanceof z.ZodError) return error.issues.length === 1 ? error.issues[0]?.path[0]?.toString() : undefined;
  if (error instanceof S3Error && error.code === 'MalformedPolicy') return 'policy';
  return error instanceof IdentityError ? fieldsByIdentityError[error.code] : undefined;
}
