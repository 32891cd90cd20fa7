import { ProgramError } from '../../../platform/errors/program-error.ts';
import {
  deleteReplication,
  getReplication,
  readReplicationDocument,
  replicationSetting,
  withEditedReplication,
  withoutReplication,
  withReplication,
  writeReplicationDocument,
  type ReplicationConfig,
  type ReplicationRule,
} from '../../s3/replication.ts';
import type { S3Client } from '../../s3/client.ts';
import { editSetting } from '../../s3/edit-setting.ts';
import { readAll } from '../../terminal/io.ts';
import { adminOf } from '../admin-client.ts';
import { bucketOf } from '../bucket-of.ts';
import type { Context } from '../context.ts';
import { newRuleId } from '../lifecycle/rule-options.ts';
import { remoteTarget, targetChanges, type TargetOptions } from './remote-target.ts';
import { editReplicationRule, newReplicationRule, type ReplicationRuleOptions } from './rule-options.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface AddOptions extends TargetOptions, ReplicationRuleOptions {
  readonly remoteBucket?: string;
  readonly id?: string;
  readonly disable?: boolean;
}

/** Copies new objects of a bucket to a bucket of another server. */
export async function addReplication(
  context: Context,
  [argument = '']: readonly string[],
  options: AddOptions,
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const place = await remoteTarget(context, options);
  const rule = newReplicationRule(options, target.key);
  const admin = await adminOf(context, target.aliasName);
  const arn = await admin.json<string>({
    method: 'PUT',
    call: 'set-remote-target',
    query: { bucket: target.bucket },
    body: place,
    encrypted: true,
  });
  // Other clients print the ID that was given, not the one that is made.
  const ID = options.id || newRuleId();
  const added = { ...rule, ID, Destination: { ...rule.Destination, Bucket: arn } };
  await editSetting(client, target.bucket, replicationSetting, (document) => {
    checkPriority(document, rule.Priority, undefined);
    return withReplication(document, added);
  });
  context.output.message(`Replication configuration rule applied to ${argument} successfully.`, {
    op: 'add',
    url: argument,
    id: ID,
  });
}

interface UpdateOptions extends TargetOptions, ReplicationRuleOptions {
  readonly remoteBucket?: string;
  readonly id?: string;
  readonly state?: string;
  readonly proxy?: string;
}

export async function updateReplication(
  context: Context,
  [argument = '']: readonly string[],
  options: UpdateOptions,
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const config = await configOf(client, target.bucket);
  const { id } = options;
  if (id === undefined) throw new ProgramError('BadArgument', 'Name the rule by --id; `replicate ls` shows the IDs');
  const rule = config.Rules.find((one) => one.ID === id);
  const changes = targetChanges(options);
  if (options.remoteBucket === undefined && changes.length > 0) {
    throw new ProgramError(
      'BadArgument',
      '--sync, --bandwidth, --proxy, --healthcheck-seconds and --path need --remote-bucket',
    );
  }
  const admin = await adminOf(context, target.aliasName);
  await admin.json({ method: 'GET', call: 'list-remote-targets', query: { bucket: target.bucket, type: '' } });
  if (rule === undefined) noRule(id);
  if (options.remoteBucket !== undefined) {
    const query = {
      bucket: target.bucket,
      update: 'true',
      // The keys and the address are those of the option, whatever else changes.
      creds: 'true',
      ...Object.fromEntries(changes.map((name) => [name, 'true'])),
    };
    const body = {
      ...(await remoteTarget(context, options)),
      sourcebucket: target.bucket,
      arn: rule.Destination.Bucket,
    };
    await admin.json({ method: 'PUT', call: 'set-remote-target', query, body, encrypted: true });
  }
  await editSetting(client, target.bucket, replicationSetting, (document) => {
    const edit = (one: ReplicationRule) => {
      const edited = editReplicationRule(one, options, target.key);
      checkPriority(document, edited.Priority, id);
      return edited;
    };
    return (document && withEditedReplication(document, id, edit)) ?? noRule(id);
  });
  context.output.message(`Replication configuration rule with ID \`${id}\` applied to ${argument}.`, {
    op: 'update',
    url: argument,
    id,
  });
}

function noRule(id: string): never {
  throw new ProgramError('NotFound', `There is no rule \`${id}\`; \`replicate ls\` shows the IDs`);
}

function checkPriority(document: string | undefined, priority: number, id: string | undefined): void {
  const rules = document === undefined ? [] : readReplicationDocument(document).Rules;
  if (!rules.some((rule) => rule.Priority === priority && rule.ID !== id)) return;
  throw new ProgramError('BadArgument', `Another rule has the priority ${priority}: give another by --priority`);
}

export async function listReplication(
  context: Context,
  [argument = '']: readonly string[],
  { status = '' }: { readonly status?: string },
): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const { Rules } = await configOf(client, target.bucket);
  if (Rules.length === 0)
    throw new ProgramError('NotFound', `${argument} is not replicated; \`replicate add\` adds a rule`);
  const rules = Rules.filter((rule) => status === '' || rule.Status.toLowerCase() === status.toLowerCase());
  const rows = rules.map((rule) => [
    rule.ID,
    rule.Status,
    String(rule.Priority),
    prefixOf(rule),
    rule.Destination.Bucket,
  ]);
  const human =
    rows.length === 0 ? 'No rules' : context.output.table(['ID', 'Status', 'Priority', 'Prefix', 'Destination'], rows);
  context.output.list(
    human,
    rules.map((rule) => ({ op: '', url: '', rule })),
  );
}

function prefixOf({ Filter }: ReplicationRule): string {
  return Filter.And.Prefix ?? Filter.Prefix ?? '';
}

interface RemoveOptions {
  readonly id?: string;
  readonly all?: boolean;
  readonly force?: boolean;
}

export async function removeReplication(
  context: Context,
  [argument = '']: readonly string[],
  { id = '', all = false, force = false }: RemoveOptions,
): Promise<void> {
  if (all !== force) throw new ProgramError('BadArgument', 'Use --all and --force together, to remove all rules');
  if (!all && id === '') throw new ProgramError('BadArgument', 'Name the rule by --id, or remove all by --all --force');
  const { client, target } = await bucketOf(context, argument);
  const { Rules } = await configOf(client, target.bucket);
  if (Rules.length === 0 && !all) {
    context.output.message(`${argument} is not replicated.`, { op: 'remove', url: argument, id: '' });
    return;
  }
  if (all) await deleteReplication(client, target.bucket);
  else {
    const arn = await removeRule(client, target.bucket, id);
    if (arn !== undefined) {
      const admin = await adminOf(context, target.aliasName);
      await admin.send({ method: 'DELETE', call: 'remove-remote-target', query: { bucket: target.bucket, arn } });
    }
  }
  context.output.message(
    all ? `Replication configuration removed from ${argument}.` : `Rule \`${id}\` removed from ${argument}.`,
    {
      op: 'remove',
      url: argument,
      id,
    },
  );
}

/** Removes a rule. Returns the ARN of its target if no other rule has the same target. */
async function removeRule(client: S3Client, bucket: string, id: string): Promise<string | undefined> {
  let unused: string | undefined;
  await editSetting(client, bucket, replicationSetting, (document) => {
    const { Rules } = document === undefined ? { Rules: [] } : readReplicationDocument(document);
    const rule = Rules.find((one) => one.ID === id) ?? noRule(id);
    if (Rules.length === 1) throw new ProgramError('BadArgument', 'This is the only rule: remove it by --all --force');
    const arn = rule.Destination.Bucket;
    unused = Rules.some((one) => one !== rule && one.Destination.Bucket === arn) ? undefined : arn;
    return document && withoutReplication(document, id);
  });
  return unused;
}

export async function exportReplication(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  const config = await configOf(client, target.bucket);
  const shown = { ...config, Rules: config.Rules.length === 0 ? null : config.Rules };
  context.output.message(JSON.stringify(shown, null, 1), { op: 'export', url: argument, config: shown });
}

export async function importReplication(context: Context, [argument = '']: readonly string[]): Promise<void> {
  const { client, target } = await bucketOf(context, argument);
  let config: Partial<ReplicationConfig>;
  try {
    const document = JSON.parse(await readAll(context.io)) as { readonly config?: object };
    config = document.config ?? document;
  } catch (error) {
    throw new ProgramError('BadArgument', 'Standard input has no JSON', { cause: error });
  }
  const imported = { Rules: config.Rules ?? [], Role: config.Role ?? '' };
  await editSetting(client, target.bucket, replicationSetting, () => writeReplicationDocument(imported));
  context.output.message(`Replication configuration successfully set on ${argument}.`, {
    op: 'import',
    url: argument,
    config: { Rules: null, Role: '' },
  });
}

/** Without a configuration there are no rules. */
async function configOf(client: S3Client, bucket: string): Promise<ReplicationConfig> {
  try {
    return await getReplication(client, bucket);
  } catch (error) {
    if (error instanceof ResponseError && error.code === 'ReplicationConfigurationNotFoundError')
      return { Rules: [], Role: '' };
    throw error;
  }
}
