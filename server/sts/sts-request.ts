import { createHash } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { type IncomingRequest, readWholeBody } from '../http/contract/request.ts';
import { StsError } from './sts-error.ts';
import type { Xml } from '../../protocol/s3/xml-writer.ts';
import type { TemporaryCredentials } from '../auth/temporary-credentials-record.ts';
import { parseNewPolicy } from '../../protocol/policy/parse-policy.ts';

/** A form of STS holds a token (20,000 characters), a policy and little else. Bytes. */
const longestForm = 65_536;

/** What a request of STS says, by name; none comes twice. */
export interface StsParameters {
  /** Undefined where it is not there or empty: clients send empty parameters for those they were not given. */
  optional(name: string): string | undefined;
  /** Throws MissingParameter. */
  required(name: string): string;
  readonly names: Iterable<string>;
  /** Hex SHA-256 of the body, which the signature of a form covers. */
  readonly bodyHash: string;
}

const nothing = createHash('sha256').digest('hex');

/** The parameters, from the query where it names the action, otherwise from the form. */
export async function stsParameters(request: IncomingRequest): Promise<StsParameters> {
  const query = new URLSearchParams(request.rawQuery);
  if (query.has('Action')) return parametersOf(query, nothing);
  if (!isForm(request.headers['content-type'])) {
    throw new StsError(
      'MissingParameter',
      'The STS API takes a form: Content-Type: application/x-www-form-urlencoded.',
    );
  }
  const form = await readForm(request);
  return parametersOf(new URLSearchParams(form.toString()), createHash('sha256').update(form).digest('hex'));
}

function isForm(contentType: string | undefined): boolean {
  return /^\s*application\/x-www-form-urlencoded/i.test(contentType ?? '');
}

/** Anyone may send a form: it is read before it is known who signed it, if at all. */
async function readForm({ body, headers }: IncomingRequest): Promise<Buffer> {
  const tooLarge = () => new StsError('InvalidParameterValue', `The form is longer than ${longestForm} bytes.`);
  if (Number(headers['content-length'] ?? 0) > longestForm) throw tooLarge();
  try {
    return await readWholeBody(body, { maxBytes: longestForm, tooLarge, sender: 'stranger' });
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    const code = error.status === 503 ? 'ServiceUnavailable' : 'InvalidParameterValue';
    throw new StsError(code, error.message, { cause: error });
  }
}

function parametersOf(given: URLSearchParams, bodyHash: string): StsParameters {
  const found = new Map<string, string>();
  for (const [name, value] of given) {
    if (found.has(name)) {
      throw new StsError('InvalidParameterValue', `The parameter ${name.slice(0, 64)} is given more than once.`);
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
      throw new StsError('MissingParameter', `The parameter ${name} is missing.`);
    },
  };
}

/** An action of the STS API; its file holds its checks and its part of the answer. Rejects with an `StsError`. */
export interface StsAction {
  readonly name: string;
  serve(parameters: StsParameters, request: IncomingRequest): Promise<StsOutcome>;
}

interface StsOutcome {
  /** What stands in `<NameResult>`. */
  readonly result: readonly Xml[];
  /** The credentials that were made, for the log. */
  readonly granted?: TemporaryCredentials;
}

/** Seconds: a quarter of an hour to a year. */
export const shortestDuration = 900;
export const longestDuration = 31_536_000;

/** DurationSeconds as the request has it; undefined without one. */
export function parseDuration(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return checkDuration(seconds, text);
}

function checkDuration(seconds: number, given: string = String(seconds)): number {
  if (Number.isInteger(seconds) && seconds >= shortestDuration && seconds <= longestDuration) return seconds;
  throw new StsError(
    'InvalidParameterValue',
    `DurationSeconds must be a whole number from ${shortestDuration} to ${longestDuration}, not "${given.slice(0, 40)}".`,
  );
}

/** When credentials end: with the token, or sooner where a duration is asked for. Never later than the token. */
export function expirationOf(tokenExpiration: Date, durationSeconds: number | undefined, now: Date): Date {
  const asked = now.getTime() + (durationSeconds ?? longestDuration) * 1_000;
  // Whole seconds, rounded down: that is all that the session token and the XML can say.
  return new Date(Math.floor(Math.min(tokenExpiration.getTime(), asked) / 1_000) * 1_000);
}

/** So many seconds from now, rounded down to whole ones. */
export function expirationIn(seconds: number, now: Date): Date {
  return new Date((Math.floor(now.getTime() / 1_000) + seconds) * 1_000);
}

/** What every action lets its caller say of the session that begins. */
export interface SessionRequest {
  /** Seconds, 900 to 31,536,000. */
  readonly durationSeconds?: number;
  /** Inline session policy (JSON), of at most 2,048 characters. */
  readonly policy?: string;
  /** The label under which the credentials can be revoked together (`TokenRevokeType`). */
  readonly revokeType?: string;
}

/** Characters. */
const longestPolicy = 2_048;
const longestRevokeType = 128;

/**
 * What of STS bounds a session and is not evaluated here. Without it the credentials would have more rights than their caller asked for.
 * All else of STS says who asks and why, and gives nothing.
 */
const bounds = /^(?:PolicyArns|Tags|TransitiveTagKeys|ProvidedContexts)(?:\.|$)/;

function refuseBounds({ names }: StsParameters): void {
  for (const name of names) {
    if (!bounds.test(name)) continue;
    throw new StsError(
      'NotImplemented',
      `The parameter ${name.slice(0, 64)} is not implemented; bound the session by Policy.`,
    );
  }
}

/** Throws for a duration that is no number, and for bounds that are not evaluated; the rest is for `checkSession`. */
export function sessionRequest(parameters: StsParameters): SessionRequest {
  refuseBounds(parameters);
  const durationSeconds = parseDuration(parameters.optional('DurationSeconds'));
  const policy = parameters.optional('Policy');
  const revokeType = parameters.optional('TokenRevokeType');
  return {
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(policy === undefined ? {} : { policy }),
    ...(revokeType === undefined ? {} : { revokeType }),
  };
}

/** Throws an `StsError` for what is out of bounds. */
export function checkSession({ durationSeconds, policy, revokeType }: SessionRequest): void {
  if (durationSeconds !== undefined) checkDuration(durationSeconds);
  if (policy !== undefined) checkPolicy(policy);
  if (revokeType !== undefined && revokeType.length > longestRevokeType) {
    throw new StsError('InvalidParameterValue', `TokenRevokeType is longer than ${longestRevokeType} characters.`);
  }
}

function checkPolicy(policy: string): void {
  if (policy.length > longestPolicy) {
    throw new StsError('InvalidParameterValue', `Policy is longer than ${longestPolicy} characters.`);
  }
  try {
    parseNewPolicy(policy);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    throw new StsError('MalformedPolicyDocument', `Policy is not a valid policy document: ${error.message}`, {
      cause: error,
    });
  }
}
