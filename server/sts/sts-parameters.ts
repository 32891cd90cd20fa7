import type { IncomingRequest } from '../access/incoming-request.ts';
import { StsError } from './sts-error.ts';

/** A form of STS holds a token (20,000 characters), a policy and little else. Bytes. */
const longestForm = 65_536;

/** The parameters, from the query where it names the action, otherwise from the form. None may come twice. */
export async function stsParameters(request: IncomingRequest): Promise<ReadonlyMap<string, string>> {
  const query = new URLSearchParams(request.rawQuery);
  if (query.has('Action')) return single(query);
  if (!isForm(request.headers['content-type'])) {
    throw new StsError(
      'MissingParameter',
      'The STS API takes a form: Content-Type: application/x-www-form-urlencoded.',
    );
  }
  return single(new URLSearchParams(await readForm(request)));
}

function isForm(contentType: string | undefined): boolean {
  return /^\s*application\/x-www-form-urlencoded/i.test(contentType ?? '');
}

async function readForm({ body }: IncomingRequest): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > longestForm) {
      throw new StsError('InvalidParameterValue', `The form is longer than ${longestForm} bytes.`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function single(parameters: URLSearchParams): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (found.has(name)) {
      throw new StsError('InvalidParameterValue', `The parameter ${name.slice(0, 64)} is given more than once.`);
    }
    found.set(name, value);
  }
  return found;
}
