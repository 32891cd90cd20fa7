import { createHash } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { type IncomingRequest, readWholeBody } from '../http/contract/request.ts';
import type { Xml } from '../../protocol/s3/xml-writer.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import { parseNewPolicy } from '../../protocol/policy/parse-policy.ts';
import { stsError } from './sts-error.ts';

/** Bytes. A form has a token (20,000 characters), a policy and short fields. */
const maxFormBytes = 65_536;

/** The parameters of an STS request; none is repeated. */
export interface StsParameters {
  /** Returns undefined for an absent or empty parameter: clients send empty ones. */
  optional(name: string): string | undefined;
  /** Returns a parameter; throws MissingParameter. */
  required(name: string): string;
  readonly names: Iterable<string>;
  /** Hex SHA-256 of the body, which the signature of a form covers. */
  readonly bodyHash: string;
}

const nothing = createHash('sha256').digest('hex');

/** Reads the parameters from the query if it has the action, otherwise from the form. */
export async function stsParameters(request: IncomingRequest): Promise<StsParameters> {
  const query = new URLSearchParams(request.rawQuery);
  if (query.has('Action')) return parametersOf(query, nothing);
  if (!isForm(request.headers['content-type'])) {
    throw stsError('MissingParameter', 'The STS API takes a form: Content-Type: application/x-www-form-urlencoded.');
  }
  const form = await readForm(request);
  return parametersOf(new URLSearchParams(form.toString()), createHash('sha256').update(form).digest('hex'));
}

function isForm(contentType: string | undefined): boolean {
  return /^\s*application\/x-www-form-urlencoded/i.test(contentType ?? '');
}

/** Reports whether the client went away, which anybody may do: it is not a failure of the server. Node calls it `aborted`. */
function isCut(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}

/** Reads the form of a caller who is still unknown. */
async function readForm({ body, headers }: IncomingRequest): Promise<Buffer> {
  const tooLarge = () => stsError('InvalidParameterValue', `The form is longer than ${maxFormBytes} bytes.`);
  if (Number(headers['content-length'] ?? 0) > maxFormBytes) throw tooLarge();
  try {
    return await readWholeBody(body, { maxBytes: maxFormBytes, tooLarge, sender: 'stranger' });
  } catch (error) {
    if (isCut(error)) throw stsError('InvalidParameterValue', 'The connection ended before the form was whole.');
    if (!(error instanceof S3Error)) throw error;
    const code = error.status === 503 ? 'ServiceUnavailable' : 'InvalidParameterValue';
    throw stsError(code, error.message, { cause: error });
  }
}

function parametersOf(given: URLSearchParams, bodyHash: string): StsParameters {
  const found = new Map<string, string>();
  for (const [name, value] of given) {
    if (found.has(name)) {
      throw stsError('InvalidParameterValue', `The parameter ${name.slice(0, 64)} is given more than once.`);
    }
    found.set(name, value);
  }
  const optional = (name: string) => {
    const value = found.get(name);
    return value === '' ? undefined : value;
  };
  return {
    bodyHash,
    names: found.keys().toArray(),
    optional,
    required(name) {
      const value = optional(name);
      if (value !== undefined) return value;
      throw stsError('MissingParameter', `The parameter ${name} is missing.`);
    },
  };
}

/** An action of the STS API. Rejects with a `RequestError`. */
export interface StsAction {
  readonly name: string;
  serve(parameters: StsParameters, request: IncomingRequest): Promise<StsOutcome>;
}

interface StsOutcome {
  /** The content of `<NameResult>`. */
  readonly result: readonly Xml[];
  /** The credentials that were made, for the log. */
  readonly granted?: TemporaryCredentials;
}

/** Seconds: a quarter of an hour to a year. */
export const minDuration = 900;
export const maxDuration = 31_536_000;

/** Parses DurationSeconds; returns undefined if absent. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return checkDuration(seconds, text);
}

function checkDuration(seconds: number, given: string = String(seconds)): number {
  if (Number.isInteger(seconds) && seconds >= minDuration && seconds <= maxDuration) return seconds;
  throw stsError(
    'InvalidParameterValue',
    `DurationSeconds must be a whole number from ${minDuration} to ${maxDuration}, not "${given.slice(0, 40)}".`,
  );
}

/** Returns the expiry of credentials: that of the token, or sooner if a duration is given. */
export function expirationOf(tokenExpiration: Date, durationSeconds: number | undefined, now: Date): Date {
  const asked = now.getTime() + (durationSeconds ?? maxDuration) * 1_000;
  // Session token and XML have whole seconds.
  return new Date(Math.floor(Math.min(tokenExpiration.getTime(), asked) / 1_000) * 1_000);
}

/** Returns the time in `seconds`, rounded down to whole seconds. */
export function expirationIn(seconds: number, now: Date): Date {
  return new Date((Math.floor(now.getTime() / 1_000) + seconds) * 1_000);
}

/** The parameters of a session that every action has. */
export interface SessionRequest {
  /** Seconds, 900 to 31,536,000. */
  readonly durationSeconds?: number;
  /** Inline session policy (JSON), of at most 2,048 characters. */
  readonly policy?: string;
  /** The label by which credentials can be revoked together (`TokenRevokeType`). */
  readonly revokeType?: string;
}

/** Characters. */
const maxPolicyLength = 2_048;
const maxRevokeTypeLength = 128;

/**
 * Parameters that would bound the session and are not implemented: to ignore them would give more rights than the caller asked for. Other
 * parameters give no rights and are ignored.
 */
const bounds = /^(?:PolicyArns|Tags|TransitiveTagKeys|ProvidedContexts)(?:\.|$)/;

function refuseBounds({ names }: StsParameters): void {
  for (const name of names) {
    if (!bounds.test(name)) continue;
    throw stsError(
      'NotImplemented',
      `The parameter ${name.slice(0, 64)} is not implemented; bound the session by Policy.`,
    );
  }
}

/** Parses the session parameters; throws for an invalid duration and for unsupported bounds. `checkSession` checks the rest. */
export function sessionRequest(parameters: StsParameters): SessionRequest {
  refuseBounds(parameters);
  const durationSeconds = parseDuration(parameters.optional('DurationSeconds'));
  const policy = parameters.optional('Policy');
  // The sender means to bound the session, and an absent policy bounds nothing.
  if (policy === undefined && [...parameters.names].includes('Policy')) {
    throw stsError(
      'MalformedPolicyDocument',
      'Policy is empty; leave the parameter out for a session without a bound.',
    );
  }
  const revokeType = parameters.optional('TokenRevokeType');
  return {
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(policy === undefined ? {} : { policy }),
    ...(revokeType === undefined ? {} : { revokeType }),
  };
}

/** Throws a `RequestError` for values that are too long or invalid. */
export function checkSession({ durationSeconds, policy, revokeType }: SessionRequest): void {
  if (durationSeconds !== undefined) checkDuration(durationSeconds);
  if (policy !== undefined) checkPolicy(policy);
  if (revokeType !== undefined && revokeType.length > maxRevokeTypeLength) {
    throw stsError('InvalidParameterValue', `TokenRevokeType is longer than ${maxRevokeTypeLength} characters.`);
  }
}

function checkPolicy(policy: string): void {
  if (policy.length > maxPolicyLength) {
    throw stsError('InvalidParameterValue', `Policy is longer than ${maxPolicyLength} characters.`);
  }
  try {
    parseNewPolicy(policy);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw stsError('MalformedPolicyDocument', `Policy is not a valid policy document: ${error.message}`, {
      cause: error,
    });
  }
}
