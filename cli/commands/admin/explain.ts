import { adminOf } from '../../admin/admin-client.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { printable } from '../../terminal/format.ts';

export interface ExplainOptions {
  /** `aws:SourceIp=192.0.2.7`; a key given twice has two values. */
  readonly context?: readonly string[];
}

interface Explanation {
  readonly decision?: unknown;
  readonly text?: string;
}

/** Whether a user or access key may do something, and which statement of which policy says so. */
export async function explainPolicy(
  context: Context,
  [alias = '', user = '', action = '', resource = '']: readonly string[],
  options: ExplainOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const explanation = await admin.json<Explanation>({
    method: 'POST',
    api: 'coffer',
    call: 'explain',
    body: { user, action, resource: withoutArn(resource), context: conditionKeys(options.context ?? []) },
  });
  const { text = '', ...fields } = explanation;
  context.output.message(text.split('\n').map(printable).join('\n').trimEnd(), { ...fields, text });
}

/** `arn:aws:s3:::bucket/key`, `bucket/key` and `ALIAS`-less paths name the same. */
function withoutArn(resource: string): string {
  return resource.replace(/^arn:aws:s3:::/, '');
}

function conditionKeys(words: readonly string[]): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const word of words) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (key === undefined || value === undefined) {
      throw new CliError(
        'BadArgument',
        `Invalid --context \`${word}\`: write KEY=VALUE, such as aws:SourceIp=192.0.2.7`,
      );
    }
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return Object.fromEntries(found);
}
