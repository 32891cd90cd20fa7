import { S3Error } from '../s3/s3-error.ts';

export type PolicyObject = Readonly<Record<string, unknown>>;

/** Refuses a value of the document by the path of its field, e.g. `Statement[0].Effect "Permit" must be "Allow" or "Deny"`. */
export function refuse(path: string, value: unknown, problem: string): never {
  const where = path.length > 256 ? `${path.slice(0, 256)}…` : path;
  throw new S3Error('MalformedPolicy', `The policy document is not valid: ${where} ${shown(value)} ${problem}.`);
}

function shown(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? 'nothing').slice(0, 128);
  } catch {
    // Lists in lists until the stack ends.
    return 'nested too deep to be shown';
  }
}

export function readObject(value: unknown, path: string): PolicyObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as PolicyObject;
  return refuse(path, value, 'must be an object');
}

export function onlyFields(object: PolicyObject, known: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(path, unknown, `is no field that may stand here (${known.join(', ')})`);
}

export function optionalText(object: PolicyObject, field: string, path: string): string | undefined {
  const value = object[field];
  if (value === undefined || typeof value === 'string') return value || undefined;
  return refuse(path, value, 'must be a string');
}

/** One string or a list of them, at least one. */
export function textList(value: unknown, path: string): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) refuse(path, value, 'must not be empty');
  return list.map((one) =>
    typeof one === 'string' && one !== '' ? one : refuse(path, one, 'must be a string that is not empty'),
  );
}

/** A `${` that ends nowhere would be taken literally and match nothing, which its author cannot have meant. */
export function checkVariables(text: string, path: string): void {
  const rest = text.replaceAll(/\$\{([*?$]|[^${}*?,']+(,\s*'[^'{}]*'\s*)?)\}/g, '');
  if (rest.includes('${'))
    refuse(path, text, "holds a policy variable that is not of the form ${name} or ${name, 'default'}");
}
