import { S3Error } from '../s3-error.ts';

/** The fields of a form by their names in lower case, in the order of the form. `name` is the name as it was sent. */
export type FormFields = ReadonlyMap<string, { readonly name: string; readonly value: string }>;

/** The sizes that a policy allows for the file, in bytes. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/** A condition of a field. */
interface FieldCondition {
  readonly operation: 'eq' | 'starts-with';
  /** In lower case; undefined for a name that refers to no field. */
  readonly field: string | undefined;
  readonly value: string;
  /** The condition as the policy has it, for messages. */
  readonly text: string;
}

/** A policy document of a form. */
interface PostPolicy {
  readonly expiration: number;
  readonly conditions: readonly FieldCondition[];
  readonly size: SizeRange;
}

/** A condition takes some 20 bytes, and the document is bounded by the fields of a form. */
const maxConditions = 1_000;
const everySize: SizeRange = { min: 0, max: Number.MAX_SAFE_INTEGER };

/**
 * Checks the fields of a form against its policy, and returns the sizes that it allows for the file. `bucket` is a field of every form: a
 * policy names the bucket that it is for.
 *
 * @param policy the document in base64, as the form has it; its signature has been verified
 * @throws S3Error InvalidPolicyDocument, AccessDenied with the texts of AWS
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html
 */
export function checkPostPolicy(policy: string, form: FormFields, bucket: string, now: Date): SizeRange {
  const { expiration, conditions, size } = parsePostPolicy(policy);
  if (now.getTime() >= expiration) throw denied('Policy expired.');
  const covered = new Set<string | undefined>();
  for (const condition of conditions) {
    covered.add(condition.field);
    const value = condition.field === 'bucket' ? bucket : form.get(condition.field ?? '')?.value;
    if (!holds(condition, value)) throw denied(`Policy Condition failed: ${condition.text}`);
  }
  for (const [field, { name }] of form) {
    if (!covered.has(field) && !needsNoCondition(field)) throw denied(`Extra input fields: ${name}`);
  }
  if (!covered.has('bucket')) throw denied('Extra input fields: bucket');
  return size;
}

/** The fields of the signature, and those that S3 ignores. */
function needsNoCondition(field: string): boolean {
  return uncovered.has(field) || field.startsWith('x-ignore-');
}

const uncovered: ReadonlySet<string> = new Set(['policy', 'x-amz-signature', 'awsaccesskeyid', 'signature']);

/** A condition of an absent field fails, unless it allows every value. */
function holds({ operation, field, value }: FieldCondition, given: string | undefined): boolean {
  if (operation === 'eq') return given === value;
  if (given === undefined) return field !== undefined && value === '';
  // A list of types meets a condition when each of them does.
  const values = field === 'content-type' ? given.split(',').map((one) => one.trim()) : [given];
  return values.every((one) => one.startsWith(value));
}

function parsePostPolicy(policy: string): PostPolicy {
  const document = parseJson(policy);
  if (!isObject(document)) throw invalid('Invalid JSON.');
  const other = Object.keys(document).find((name) => name !== 'expiration' && name !== 'conditions');
  if (other !== undefined) throw invalid(`Unexpected: '${other.slice(0, 100)}'`);
  const { expiration, conditions } = document;
  if (expiration === undefined) throw invalid('Policy missing expiration.');
  if (conditions === undefined) throw invalid('Policy missing conditions.');
  if (!Array.isArray(conditions)) throw invalid("Invalid 'conditions' value: must be a List.");
  if (conditions.length > maxConditions) throw invalid(`more than ${maxConditions} conditions.`);
  let size = everySize;
  const ofFields: FieldCondition[] = [];
  for (const condition of conditions as readonly unknown[]) {
    const range = sizeRange(condition);
    if (range === undefined) ofFields.push(fieldCondition(condition));
    else size = { min: Math.max(size.min, range.min), max: Math.min(size.max, range.max) };
  }
  return { expiration: parseExpiration(expiration), conditions: ofFields, size };
}

function parseJson(policy: string): unknown {
  const bytes = Buffer.from(policy, 'base64');
  // Line breaks are allowed in base64, and the final `=` may be missing.
  const compact = policy.replaceAll(/[\r\n]/g, '').replace(/={1,2}$/, '');
  if (bytes.toString('base64').replace(/={1,2}$/, '') !== compact) throw invalid('invalid Base64 encoding.');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalid('Invalid JSON.');
  }
}

function parseExpiration(text: unknown): number {
  const time =
    typeof text === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return time;
  throw invalid(`Invalid 'expiration' value: '${String(text).slice(0, 100)}'`);
}

/** Reads `["content-length-range", min, max]`. Returns undefined for another condition. */
function sizeRange(condition: unknown): SizeRange | undefined {
  if (!Array.isArray(condition)) return undefined;
  const [operation, ...bounds] = condition as readonly unknown[];
  if (typeof operation !== 'string' || operation.toLowerCase() !== 'content-length-range') return undefined;
  if (bounds.length !== 2) throw invalid('Invalid content-length-range: wrong number of arguments.');
  const [min, max] = bounds.map((bound) => (typeof bound === 'string' ? Number.parseInt(bound, 10) : bound));
  if (Number.isNaN(min) || Number.isNaN(max)) throw denied(`Policy Condition failed: ${textOf(condition)}`);
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || Number(min) < 0 || Number(max) < Number(min)) {
    throw invalid('Invalid content-length-range: the bounds are whole numbers of bytes, the smaller first.');
  }
  return { min: Number(min), max: Number(max) };
}

function fieldCondition(condition: unknown): FieldCondition {
  if (Array.isArray(condition)) return listCondition(condition);
  if (!isObject(condition)) throw invalid('Invalid condition test: must be a List or Object.');
  const [[name, value] = [], more] = Object.entries(condition);
  if (name === undefined || more !== undefined) {
    throw invalid('Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.');
  }
  if (typeof value !== 'string') throw invalid('Invalid Simple-Condition: value must be a string.');
  return { operation: 'eq', field: name.toLowerCase(), value, text: textOf(['eq', `$${name}`, value]) };
}

function listCondition(condition: readonly unknown[]): FieldCondition {
  const [name, field, value] = condition;
  if (name === undefined) throw invalid('Invalid Condition: missing operation identifier.');
  if (typeof name !== 'string') throw invalid('Invalid JSON.');
  const operation = name.toLowerCase();
  if (operation !== 'eq' && operation !== 'starts-with') {
    throw invalid(`Invalid Condition: unknown operation '${name.slice(0, 100)}'.`);
  }
  if (condition.length !== 3) throw invalid(`Invalid ${operation}: wrong number of arguments.`);
  if (typeof field !== 'string' || typeof value !== 'string') throw invalid('Invalid JSON.');
  // A name without `$` refers to no field, so that the condition never holds.
  const known = field.startsWith('$') ? field.slice(1).toLowerCase() : undefined;
  return { operation, field: known, value, text: textOf([name, field, value]) };
}

/** Writes a condition as AWS does in messages. */
function textOf(condition: readonly unknown[]): string {
  return `[${condition.map((part) => JSON.stringify(part)).join(', ')}]`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(why: string): S3Error {
  return new S3Error('InvalidPolicyDocument', `Invalid Policy: ${why}`);
}

function denied(why: string): S3Error {
  return new S3Error('AccessDenied', `Invalid according to Policy: ${why}`);
}
