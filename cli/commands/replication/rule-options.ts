import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { ReplicationRule, ReplicationTag } from '../../s3/replication.ts';

/** The flags that describe a rule. */
export interface ReplicationRuleOptions {
  readonly tags?: string;
  readonly storageClass?: string;
  readonly priority?: string;
  /** Names separated by commas, of `parts`. */
  readonly replicate?: string;
  readonly disable?: boolean;
  readonly state?: string;
}

const parts = ['delete-marker', 'delete', 'existing-objects', 'metadata-sync', 'replica-metadata-sync'];
const defaultParts = 'delete-marker,delete,existing-objects,metadata-sync';

/** @throws ProgramError BadArgument */
export function newReplicationRule(options: ReplicationRuleOptions, prefix: string): ReplicationRule {
  const replicated = partsOf(options.replicate ?? defaultParts);
  if (replicated.length === 0) throw badParts(options.replicate ?? '');
  return {
    ID: '',
    Status: options.disable === true ? 'Disabled' : 'Enabled',
    Priority: priorityOf(options.priority) ?? 0,
    Destination: { Bucket: '', ...(options.storageClass && { StorageClass: options.storageClass }) },
    Filter: filterOf(prefix, tagsOf(options.tags)),
    ...switchesOf(replicated, 'add'),
  };
}

/** Applies the flags; what no flag names stays. @throws ProgramError BadArgument */
export function editReplicationRule(
  rule: ReplicationRule,
  options: ReplicationRuleOptions,
  path: string,
): ReplicationRule {
  const { state } = options;
  if (state !== undefined && !/^(enable|disable)$/i.test(state)) {
    throw new ProgramError('BadArgument', `Invalid --state \`${state}\`: it is enable or disable`);
  }
  const { Filter: filter, Destination } = rule;
  const names = path !== '' || options.tags !== undefined;
  return {
    ...rule,
    ...(state !== undefined && { Status: state.toLowerCase() === 'enable' ? 'Enabled' : 'Disabled' }),
    Priority: priorityOf(options.priority) ?? rule.Priority,
    Destination: { ...Destination, ...(options.storageClass && { StorageClass: options.storageClass }) },
    Filter: names ? editFilter(filter, path, options.tags) : filter,
    ...(options.replicate !== undefined && editSwitches(rule, partsOf(options.replicate))),
  };
}

/** A path in place of the prefix, and tags in place of the tags; what is not given stays. */
function editFilter(
  { Prefix = '', And, Tag, ...more }: ReplicationRule['Filter'],
  path: string,
  tags: string | undefined,
): ReplicationRule['Filter'] {
  const { Prefix: andPrefix, Tags, ...moreOfAnd } = And;
  const known = Tags ?? (Tag.Key === undefined ? [] : [Tag]);
  const prefix = path === '' ? (andPrefix ?? Prefix) : path;
  const edited = filterOf(prefix, tags === undefined ? known : tagsOf(tags));
  return { ...more, ...edited, And: { ...moreOfAnd, ...edited.And } };
}

function editSwitches(rule: ReplicationRule, replicated: readonly string[]) {
  const switches = switchesOf(replicated, 'edit');
  const criteria = { ...rule.SourceSelectionCriteria, ...switches.SourceSelectionCriteria };
  return { ...switches, SourceSelectionCriteria: criteria };
}

function partsOf(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  const given = names.filter((name) => name !== '');
  if (given.some((name) => !parts.includes(name))) throw badParts(text);
  return given;
}

function badParts(text: string): ProgramError {
  return new ProgramError('BadArgument', `Invalid --replicate \`${text}\`: there are ${parts.slice(0, 4).join(', ')}`);
}

/** A new rule replicates changes of metadata also without the flag. */
function switchesOf(replicated: readonly string[], kind: 'add' | 'edit') {
  const metadata =
    kind === 'add' || replicated.includes('metadata-sync') || replicated.includes('replica-metadata-sync');
  return {
    DeleteMarkerReplication: switchOf(replicated.includes('delete-marker')),
    DeleteReplication: switchOf(replicated.includes('delete')),
    SourceSelectionCriteria: { ReplicaModifications: switchOf(metadata) },
    ExistingObjectReplication: switchOf(replicated.includes('existing-objects')),
  };
}

function switchOf(isOn: boolean): { readonly Status: string } {
  return { Status: isOn ? 'Enabled' : 'Disabled' };
}

function filterOf(prefix: string, tags: readonly ReplicationTag[]): ReplicationRule['Filter'] {
  if (tags.length > 1 || prefix !== '') {
    return { And: { ...(prefix !== '' && { Prefix: prefix }), ...(tags.length > 0 && { Tags: tags }) }, Tag: {} };
  }
  return { And: {}, Tag: tags[0] ?? {} };
}

function tagsOf(text = ''): readonly ReplicationTag[] {
  if (text === '') return [];
  return text.split('&').map((tag) => {
    const [key = '', value, ...rest] = tag.split('=');
    if (key !== '' && value !== undefined && rest.length === 0) return { Key: key, Value: value };
    throw new ProgramError('BadArgument', `Invalid --tags \`${text}\`: write KEY=VALUE&KEY=VALUE`);
  });
}

function priorityOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new ProgramError('BadArgument', `Invalid --priority \`${text}\`: it is a whole number`);
}
