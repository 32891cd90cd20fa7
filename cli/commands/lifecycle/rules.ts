import { ProgramError } from '../../../platform/errors/program-error.ts';
import { parseRemote, type RemoteTarget } from '../../config/target.ts';
import type { S3Client } from '../../s3/client.ts';
import { editSetting } from '../../s3/edit-setting.ts';
import {
  getLifecycle,
  lifecycleSetting,
  withEditedRule,
  withoutRule,
  withRule,
  writeLifecycleDocument,
  type BucketLifecycle,
  type LifecycleRuleFields,
} from '../../s3/lifecycle-document.ts';
import { readAll } from '../../terminal/io.ts';
import type { Context } from '../context.ts';
import { editRule, newRule, type RuleOptions } from './rule-options.ts';
import { ruleTables } from './rule-tables.ts';

export async function addRule(
  context: Context,
  [argument = '']: readonly string[],
  options: RuleOptions,
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const rule = newRule(options, target.key, new Date());
  await editSetting(client, target.bucket, lifecycleSetting, (document) => withRule(document, rule));
  context.output.message(`Lifecycle configuration rule added with ID \`${rule.ID}\` to ${argument}.`, {
    target: argument,
    id: rule.ID,
  });
}

export async function changeRule(
  context: Context,
  [argument = '']: readonly string[],
  options: RuleOptions,
): Promise<void> {
  const { id } = options;
  if (id === undefined || id === '')
    throw new ProgramError('BadArgument', 'Name the rule by --id; `ilm rule ls` shows the IDs');
  const { client, target } = await bucketOf(context, argument);
  const edit = (rule: LifecycleRuleFields) => editRule(rule, options, target.key);
  await editSetting(
    client,
    target.bucket,
    lifecycleSetting,
    (document = noRules(argument)) => withEditedRule(document, id, edit) ?? noRule(id, argument),
  );
  context.output.message(`Lifecycle configuration rule with ID \`${id}\` modified in ${argument}.`, {
    target: argument,
    id,
  });
}

interface ListOptions {
  readonly expiry?: boolean;
  readonly transition?: boolean;
}

export async function listRules(
  context: Context,
  [argument = '']: readonly string[],
  options: ListOptions,
): Promise<void> {
  if (options.expiry === true && options.transition === true) {
    throw new ProgramError('BadArgument', 'Use --expiry or --transition, not both');
  }
  const { client, target } = await bucketOf(context, argument);
  const { rules, updatedAt } = await setLifecycle(client, target);
  const shown = rules.filter((rule) => isShown(rule, options));
  context.output.message(ruleTables(shown, options, new Date()), {
    target: argument,
    config: { Rules: shown },
    updatedAt,
  });
}

function isShown(rule: LifecycleRuleFields, { expiry, transition }: ListOptions): boolean {
  if (expiry === true) return rule.Expiration !== undefined || rule.NoncurrentVersionExpiration !== undefined;
  if (transition === true) return rule.Transition !== undefined || rule.NoncurrentVersionTransition !== undefined;
  return true;
}

interface RemoveOptions {
  readonly id?: string;
  readonly all?: boolean;
  readonly force?: boolean;
}

export async function removeRule(
  context: Context,
  [argument = '']: readonly string[],
  { id = '', all = false, force = false }: RemoveOptions,
): Promise<void> {
  if (all !== force) throw new ProgramError('BadArgument', 'Use --all and --force together, to remove all rules');
  if (!all && id === '') throw new ProgramError('BadArgument', 'Name the rule by --id, or remove all by --all --force');
  const { client, target } = await bucketOf(context, argument);
  await editSetting(client, target.bucket, lifecycleSetting, (document = noRules(argument)) =>
    all ? undefined : (withoutRule(document, id) ?? noRule(id, argument)).document,
  );
  const human = all ? `Rules for \`${argument}\` removed.` : `Rule ID \`${id}\` from target ${argument} removed.`;
  context.output.message(human, { id, target: argument, all });
}

/** Prints the rules for `importRules`. */
export async function exportRules(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const { rules, updatedAt } = await setLifecycle(client, target);
  const config = { Rules: rules };
  context.output.message(JSON.stringify(config, null, 1), { target: argument, config, updatedAt });
}

/** Replaces the rules by those of standard input, which `exportRules` printed. */
export async function importRules(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const rules = parseRules(await readAll(context.io));
  await editSetting(client, target.bucket, lifecycleSetting, () => writeLifecycleDocument(rules));
  context.output.message(`Lifecycle configuration imported successfully to \`${argument}\`.`, { target: argument });
}

function parseRules(text: string): readonly LifecycleRuleFields[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new ProgramError('BadArgument', 'Standard input has no JSON', { cause: error });
  }
  // With --json the export has the rules in a field.
  const { config = document } = (document ?? {}) as { readonly config?: unknown };
  const { Rules: rules } = (config ?? {}) as { readonly Rules?: readonly unknown[] };
  const areRules = Array.isArray(rules) && rules.every((rule) => typeof rule === 'object' && rule !== null);
  if (!areRules || rules.length === 0)
    throw new ProgramError('BadArgument', 'Standard input has no rules: {"Rules": [ … ]}');
  return rules.map((rule: Partial<LifecycleRuleFields>) => ({ ...rule, ID: rule.ID ?? '', Status: rule.Status ?? '' }));
}

async function setLifecycle(client: S3Client, target: RemoteTarget): Promise<BucketLifecycle> {
  const lifecycle = await getLifecycle(client, target.bucket);
  if (lifecycle.rules.length > 0) return lifecycle;
  return noRules(target.text);
}

/** Throws the error that S3 has for a bucket without rules. */
function noRules(argument: string): never {
  throw new ProgramError(
    'NoSuchLifecycleConfiguration',
    `${argument} has no lifecycle rules; \`ilm rule add\` adds one`,
  );
}

function noRule(id: string, argument: string): never {
  throw new ProgramError('NotFound', `There is no rule \`${id}\` in ${argument}; \`ilm rule ls\` shows the IDs`);
}

async function bucketOf(context: Context, argument: string): Promise<{ client: S3Client; target: RemoteTarget }> {
  const target = parseRemote(argument, await context.aliases());
  if (target.bucket === '')
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name a bucket, ALIAS/BUCKET`);
  return { client: await context.client(target.alias), target };
}
