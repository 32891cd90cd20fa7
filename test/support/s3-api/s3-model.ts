import * as sdk from '@aws-sdk/client-s3';

/** An operation as the S3 model describes it, which the AWS SDK carries. For tests. */
interface ModelOperation {
  readonly name: string;
  readonly method: string;
  /** With `{Key+}` in its path where it is of an object. */
  readonly path: string;
  /** Without `x-id`, which names the operation. */
  readonly query: string;
  /** Headers in lower case, and query parameters with a question mark before their name. */
  readonly names: readonly string[];
}

type Traits = Readonly<Record<string, unknown>>;

/** The form of the SDK's schemas: an operation begins with 9, and its input lists members with their traits. */
export function modelOperations(): readonly ModelOperation[] {
  const operations: ModelOperation[] = [];
  for (const schema of Object.values(sdk) as unknown[]) {
    if (!Array.isArray(schema) || schema[0] !== 9) continue;
    const [, , name, traits, input] = schema as [number, string, string, Traits, unknown];
    const [method, target] = traits['http'] as [string, string];
    const [path = '', query = ''] = target.split('?');
    const parts = query.split('&').filter((part) => part !== '' && !part.startsWith('x-id='));
    operations.push({ name, method, path, query: parts.join('&'), names: namesOf(input) });
  }
  return operations;
}

function namesOf(input: unknown): readonly string[] {
  const schema: unknown = typeof input === 'function' ? (input as () => unknown)() : input;
  const members = Array.isArray(schema) ? ((schema[5] as readonly unknown[] | undefined) ?? []) : [];
  return members.flatMap((member) => {
    const traits: unknown = Array.isArray(member) ? member[1] : undefined;
    if (typeof traits !== 'object' || traits === null) return [];
    const { httpHeader, httpPrefixHeaders, httpQuery } = traits as Readonly<Record<string, string | undefined>>;
    if (httpHeader !== undefined) return [httpHeader.toLowerCase()];
    if (httpPrefixHeaders !== undefined) return [`${httpPrefixHeaders.toLowerCase()}*`];
    return httpQuery === undefined ? [] : [`?${httpQuery}`];
  });
}
