import { CliError } from '../cli-error.ts';
import { S3ResponseError } from '../s3/s3-response-error.ts';

export interface Described {
  /** Without a full stop at the end. */
  readonly message: string;
  readonly cause: string;
  /** What the server or the system said, field by field. */
  readonly details: Readonly<Record<string, string>>;
}

/** `context` is what was being done: `Unable to list \`local/b\``. */
export function describeError(failure: unknown, context?: string): Described {
  const [message, cause] =
    failure instanceof CliError ? [failure.message, failure.cause] : [context ?? 'The command failed', failure];
  const said = cause === undefined ? '' : sentence(cause);
  return { message: plain(message), cause: plain(said), details: details(cause ?? failure) };
}

const networkReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the server did not answer in time',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be resolved now',
  EHOSTUNREACH: 'the host cannot be reached',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'the certificate is self-signed; put it into certs/CAs of the configuration folder, or use --insecure',
  SELF_SIGNED_CERT_IN_CHAIN:
    'the certificate authority is unknown; put its certificate into certs/CAs of the configuration folder, or use --insecure',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate authority is unknown; put its certificate into certs/CAs of the configuration folder, or use --insecure',
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is no folder',
  ENOSPC: 'no space is left on the device',
};

function sentence(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof S3ResponseError) return cause.message;
  const code = (cause as NodeJS.ErrnoException).code;
  const reason = code === undefined ? undefined : networkReasons[code];
  // Several addresses of one host were tried: each failure is in a list, and the message is empty.
  const inner = cause instanceof AggregateError && cause.message === '' ? cause.errors.at(0) : cause;
  const said = inner instanceof Error ? inner.message : String(inner);
  return reason === undefined ? said : `${said}: ${reason}`;
}

function details(cause: unknown): Record<string, string> {
  if (cause instanceof S3ResponseError) return { Code: cause.code, Message: cause.message, ...cause.fields };
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return code === undefined ? {} : { Code: code };
}

/** One line without a full stop: texts of servers may hold anything, escape sequences of the terminal included. */
function plain(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .replace(/\.+$/, '');
}
