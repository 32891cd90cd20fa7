import { S3Error } from '../s3/s3-error.ts';
import type { PolicyDocument } from './document.ts';
import { parseStatement } from './parse-statement.ts';
import type { ParsePrincipals } from './parse-statement.ts';
import { onlyFields, optionalText, readObject, refuse } from './policy-fields.ts';

const versions = ['2012-10-17', '2008-10-17'] as const;

export interface PolicyParsing {
  /** 20 KiB by default. */
  readonly maxBytes?: number;
  /** Reads whom a statement is about. Without it a statement may not say so. */
  readonly parsePrincipals?: ParsePrincipals;
}

/**
 * Reads a policy document strictly: what is not understood is refused, since a statement that silently says less, or more, than
 * its author meant is worse than none.
 *
 * @throws S3Error `MalformedPolicy` that names the offending field and its value
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
 */
export function parsePolicyDocument(json: unknown, options: PolicyParsing = {}): PolicyDocument {
  const { maxBytes = 20_480 } = options;
  const text = typeof json === 'string' ? json : (JSON.stringify(json) ?? '');
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes > maxBytes) {
    throw new S3Error('MalformedPolicy', `The policy document has ${bytes} bytes; at most ${maxBytes} are allowed.`);
  }
  const document = readObject(parseJson(text), 'the policy document');
  onlyFields(document, ['Version', 'Id', 'ID', 'Statement'], 'the policy document');
  const id = optionalText(document, 'Id', 'Id') ?? optionalText(document, 'ID', 'ID');
  return {
    version: parseVersion(document['Version']),
    ...(id === undefined ? {} : { id }),
    statements: parseStatements(document['Statement'], options),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'not JSON';
    throw new S3Error('MalformedPolicy', `The policy document is not valid JSON: ${why}.`);
  }
}

function parseVersion(value: unknown): PolicyDocument['version'] {
  // MinIO's own policies may leave it out, and use variables all the same.
  if (value === undefined || value === '') return '2012-10-17';
  return versions.find((known) => known === value) ?? refuse('Version', value, `must be "${versions.join('" or "')}"`);
}

function parseStatements(value: unknown, options: PolicyParsing): PolicyDocument['statements'] {
  if (value === undefined) throw new S3Error('MalformedPolicy', 'The policy document has no Statement.');
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  if (list.length === 0) refuse('Statement', value, 'must hold at least one statement');
  const statements = list.map((statement, index) =>
    parseStatement(statement, `Statement[${index}]`, options.parsePrincipals),
  );
  const sids = statements.flatMap(({ sid }) => (sid === undefined ? [] : [sid]));
  const repeated = sids.find((sid, index) => sids.indexOf(sid) !== index);
  if (repeated !== undefined) refuse('Sid', repeated, 'is given to more than one statement');
  return statements;
}
