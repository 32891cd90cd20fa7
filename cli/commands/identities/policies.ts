import { ProgramError } from '../../../platform/errors/program-error.ts';
import { writeOutputFile } from '../../config/output-file.ts';
import { parseNewPolicy } from '../../../protocol/policy/parse-policy.ts';
import { policyWarnings } from '../../../protocol/policy/policy-warnings.ts';
import { adminOf } from '../admin-client.ts';
import type { Context } from '../context.ts';
import { textFields } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';
import { readDocument } from '../../terminal/io.ts';

interface PolicyInfo {
  readonly PolicyName?: string;
  readonly Policy?: unknown;
  readonly CreateDate?: string;
  readonly UpdateDate?: string;
}

/** Fields of other clients where no document is shown. */
const withoutDocument = { policyInfo: { PolicyName: '', Policy: null }, isGroup: false } as const;

/** Makes a policy from a file; `-` is standard input. */
export async function createPolicy(
  context: Context,
  [alias = '', name = '', file = '']: readonly string[],
): Promise<void> {
  const admin = await adminOf(context, alias);
  const body = await readPolicyFile(context, file, 'grant');
  await admin.send({ method: 'PUT', call: 'add-canned-policy', query: { name }, body });
  context.output.message(`Created policy \`${name}\` successfully.`, { policy: name, ...withoutDocument });
  context.output.hint(`Attach it: coffer admin policy attach ${alias} ${name} --user NAME`);
}

export async function removePolicy(context: Context, [alias = '', name = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  await admin.send({ method: 'DELETE', call: 'remove-canned-policy', query: { name } });
  context.output.message(`Removed policy \`${name}\` successfully.`, { policy: name, ...withoutDocument });
}

export async function listPolicies(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const policies = await admin.json<Record<string, unknown>>({ method: 'GET', call: 'list-canned-policies' });
  const names = Object.keys(policies).toSorted();
  context.output.list(
    names.map(printable).join('\n'),
    names.map((policy) => ({ policy, ...withoutDocument })),
  );
}

export async function showPolicy(
  context: Context,
  [alias = '', name = '']: readonly string[],
  options: { readonly policyFile?: string },
): Promise<void> {
  const admin = await adminOf(context, alias);
  const policyInfo = await admin.json<PolicyInfo>({
    method: 'GET',
    call: 'info-canned-policy',
    query: { name, v: '2' },
  });
  const document = JSON.stringify(policyInfo.Policy, null, 2);
  if (options.policyFile !== undefined) await writeOutputFile(options.policyFile, `${document}\n`, 0o644);
  const head = textFields({ Policy: name, Created: policyInfo.CreateDate, Changed: policyInfo.UpdateDate });
  const human = options.policyFile === undefined ? `${head}\n${document}` : `${head}\nWritten to ${options.policyFile}`;
  context.output.message(human, { policy: name, policyInfo, isGroup: false });
}

/** Reads a policy, and warns of what it does that its author may not want. That of an access key is a `boundary`. */
export async function readPolicyFile(context: Context, path: string, use: 'grant' | 'boundary'): Promise<string> {
  const text = await readDocument(context.io, path);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const named = path === '-' ? 'What came on standard input' : `\`${path}\``;
    throw new ProgramError('BadArgument', `${named} is no policy: it is no JSON`, { cause: error });
  }
  for (const warning of warningsOf(json, use)) context.output.warn('policy', printable(warning.replace(/\.$/u, '')));
  return text;
}

/** A document that this client cannot read has no warnings: the server says what is wrong with it. */
function warningsOf(json: unknown, use: 'grant' | 'boundary'): readonly string[] {
  try {
    return policyWarnings(parseNewPolicy(json), use);
  } catch {
    return [];
  }
}

interface ExplainOptions {
  /** `aws:SourceIp=192.0.2.7`. A repeated key has several values. */
  readonly context?: readonly string[];
}

interface Explanation {
  readonly decision?: unknown;
  readonly text?: string;
}

/** Explains whether a user or access key has a permission, and which statement of which policy decides. */
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

/** Removes the prefix of an ARN: `arn:aws:s3:::bucket/key` and `bucket/key` name the same object. */
function withoutArn(resource: string): string {
  return resource.replace(/^arn:aws:s3:::/, '');
}

function conditionKeys(words: readonly string[]): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const word of words) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (key === undefined || value === undefined) {
      throw new ProgramError(
        'BadArgument',
        `Invalid --context \`${word}\`: write KEY=VALUE, such as aws:SourceIp=192.0.2.7`,
      );
    }
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return Object.fromEntries(found);
}
