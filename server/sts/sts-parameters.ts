import { createHash } from 'node:crypto';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { readWholeBody } from '../access/read-whole-body.ts';
import { StsError } from './sts-error.ts';

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
