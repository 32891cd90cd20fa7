import { randomBytes } from 'node:crypto';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { LifecycleRuleFields, RuleFilter, RuleTag } from '../../s3/lifecycle-document.ts';
import { parseSize } from '../data/entries/sizes.ts';

/** The flags of `ilm rule add` and `ilm rule edit`. The flags with other names for the same thing are older. */
export interface RuleOptions {
  readonly id?: string;
  readonly disable?: boolean;
  readonly enable?: boolean;
  readonly prefix?: string;
  /** `KEY=VALUE&KEY=VALUE` */
  readonly tags?: string;
  readonly sizeLt?: string;
  readonly sizeGt?: string;
  readonly expireDays?: string;
  readonly expiryDays?: string;
  /** `YYYY-MM-DD` */
  readonly expiryDate?: string;
  readonly expireDeleteMarker?: boolean;
  readonly expiredObjectDeleteMarker?: boolean;
  readonly expireAllObjectVersions?: boolean;
  readonly transitionDays?: string;
  readonly transitionDate?: string;
  readonly transitionTier?: string;
  readonly tier?: string;
  readonly storageClass?: string;
  readonly noncurrentExpireDays?: string;
  readonly noncurrentversionExpirationDays?: string;
  readonly noncurrentExpireNewer?: string;
  readonly newerNoncurrentversionsExpiration?: string;
  readonly noncurrentTransitionDays?: string;
  readonly noncurrentversionTransitionDays?: string;
  readonly noncurrentTransitionNewer?: string;
  readonly newerNoncurrentversionsTransition?: string;
  readonly noncurrentTransitionTier?: string;
  readonly noncurrentversionTier?: string;
  readonly noncurrentversionTransitionStorageClass?: string;
}

/** The values of the flags, whatever spelling was used. Undefined where a flag is absent. */
interface RuleValues {
  readonly prefix: string | undefined;
  readonly tags: readonly RuleTag[] | undefined;
  readonly lessThan: number | undefined;
  readonly greaterThan: number | undefined;
  readonly expireDays: number | undefined;
  readonly expireDate: string | undefined;
  readonly loneMarkers: boolean | undefined;
  readonly allVersions: boolean | undefined;
  readonly transitionDays: number | undefined;
  readonly transitionDate: string | undefined;
  readonly tier: string | undefined;
  readonly noncurrentDays: number | undefined;
  readonly noncurrentKept: number | undefined;
  readonly noncurrentTransitionDays: number | undefined;
  readonly noncurrentTransitionKept: number | undefined;
  readonly noncurrentTier: string | undefined;
}

/** Makes an ID of 20 characters, as other clients do. */
export function newRuleId(): string {
  const bits = BigInt(`0x${randomBytes(12).toString('hex')}`) << 4n;
  return bits.toString(32).padStart(20, '0');
}

/**
 * Makes the rule of the flags. `path` is the part of the target after the bucket, an older way to write the prefix.
 *
 * @throws ProgramError BadArgument
 */
export function newRule(options: RuleOptions, path: string, today: Date): LifecycleRuleFields {
  const values = valuesOf(options, path);
  const rule = {
    ID: options.id || newRuleId(),
    Status: options.disable === true ? 'Disabled' : 'Enabled',
    ...fieldsOf(values),
  };
  checkRule(rule, values, today);
  return rule;
}

/** Applies the flags to a rule; what no flag names stays. @throws ProgramError BadArgument */
export function editRule(rule: LifecycleRuleFields, options: RuleOptions, path: string): LifecycleRuleFields {
  const values = valuesOf(options, path);
  const status = options.disable === true ? 'Disabled' : options.enable === true ? 'Enabled' : rule.Status;
  const { Prefix, Filter, ...rest } = rule;
  const filter = editFilter(Filter ?? (Prefix === undefined ? {} : { Prefix }), values);
  return without({
    ...rest,
    // The older form, a prefix beside a filter, stays where no flag names what the rule is for.
    ...(filter === undefined ? { Prefix, Filter } : { Filter: filter }),
    Status: status,
    Expiration: editExpiration(rule.Expiration, values),
    Transition: editTransition(rule.Transition, values),
    NoncurrentVersionExpiration: without({
      ...rule.NoncurrentVersionExpiration,
      ...given({ NoncurrentDays: values.noncurrentDays, NewerNoncurrentVersions: values.noncurrentKept }),
    }),
    NoncurrentVersionTransition: editNoncurrentTransition(rule.NoncurrentVersionTransition, values),
  });
}

/** The spellings of each flag, the one of today first. */
const spellings = {
  expireDays: ['--expire-days', 'expireDays', 'expiryDays'],
  tier: ['--transition-tier', 'transitionTier', 'tier', 'storageClass'],
  noncurrentDays: ['--noncurrent-expire-days', 'noncurrentExpireDays', 'noncurrentversionExpirationDays'],
  noncurrentKept: ['--noncurrent-expire-newer', 'noncurrentExpireNewer', 'newerNoncurrentversionsExpiration'],
  transitionDays: ['--transition-days', 'transitionDays'],
  noncurrentTransitionDays: [
    '--noncurrent-transition-days',
    'noncurrentTransitionDays',
    'noncurrentversionTransitionDays',
  ],
  noncurrentTransitionKept: [
    '--noncurrent-transition-newer',
    'noncurrentTransitionNewer',
    'newerNoncurrentversionsTransition',
  ],
  noncurrentTier: [
    '--noncurrent-transition-tier',
    'noncurrentTransitionTier',
    'noncurrentversionTier',
    'noncurrentversionTransitionStorageClass',
  ],
} as const;

type Spelled = keyof typeof spellings;

function textOf(options: RuleOptions, name: Spelled): string | undefined {
  const [, ...names] = spellings[name];
  return names.map((one) => options[one]).find((value) => value !== undefined);
}

function countOf(options: RuleOptions, name: Spelled): number | undefined {
  return numberOf(spellings[name][0], textOf(options, name));
}

function valuesOf(options: RuleOptions, path: string): RuleValues {
  checkFlags(options);
  const days = countOf(options, 'expireDays');
  if (days === 0) throw bad('--expire-days is at least 1');
  return {
    prefix: options.prefix ?? (path === '' ? undefined : path),
    tags: options.tags === undefined ? undefined : tagsOf(options.tags),
    lessThan: options.sizeLt === undefined ? undefined : parseSize('--size-lt', options.sizeLt),
    greaterThan: options.sizeGt === undefined ? undefined : parseSize('--size-gt', options.sizeGt),
    expireDays: days,
    expireDate: dateOf('--expiry-date', options.expiryDate),
    loneMarkers: options.expireDeleteMarker ?? options.expiredObjectDeleteMarker,
    allVersions: options.expireAllObjectVersions,
    transitionDays: countOf(options, 'transitionDays'),
    transitionDate: dateOf('--transition-date', options.transitionDate),
    tier: textOf(options, 'tier')?.toUpperCase(),
    noncurrentDays: countOf(options, 'noncurrentDays'),
    noncurrentKept: countOf(options, 'noncurrentKept'),
    noncurrentTransitionDays: countOf(options, 'noncurrentTransitionDays'),
    noncurrentTransitionKept: countOf(options, 'noncurrentTransitionKept'),
    noncurrentTier: textOf(options, 'noncurrentTier')?.toUpperCase(),
  };
}

function checkFlags(options: RuleOptions): void {
  const { expiryDate, expiryDays, expireDeleteMarker, transitionDays, transitionDate } = options;
  if ([expiryDate, expiryDays, expireDeleteMarker].filter((one) => one !== undefined).length > 1) {
    throw bad('a rule has one of --expiry-date, --expire-days and --expire-delete-marker: add a rule for each');
  }
  if (textOf(options, 'tier') !== undefined && transitionDays === undefined && transitionDate === undefined) {
    throw bad('--transition-tier needs --transition-days');
  }
  if (textOf(options, 'noncurrentTier') !== undefined && textOf(options, 'noncurrentTransitionDays') === undefined) {
    throw bad('--noncurrent-transition-tier needs --noncurrent-transition-days');
  }
}

function fieldsOf(values: RuleValues): Omit<LifecycleRuleFields, 'ID' | 'Status'> {
  return without({
    Filter: filterOf(values),
    Expiration: without({
      Days: values.expireDays,
      Date: values.expireDate,
      ExpiredObjectDeleteMarker: values.loneMarkers,
      ExpiredObjectAllVersions: values.allVersions,
    }),
    Transition:
      values.tier === undefined
        ? {}
        : without({ Days: values.transitionDays, Date: values.transitionDate, StorageClass: values.tier }),
    NoncurrentVersionExpiration: without({
      NoncurrentDays: values.noncurrentDays,
      NewerNoncurrentVersions: values.noncurrentKept,
    }),
    NoncurrentVersionTransition: without({
      NoncurrentDays: values.noncurrentTransitionDays,
      NewerNoncurrentVersions: values.noncurrentTransitionKept,
      StorageClass: values.noncurrentTier,
    }),
  });
}

function filterOf({ prefix, tags = [], lessThan, greaterThan }: RuleValues): RuleFilter {
  const conditions = without({ Prefix: prefix, ObjectSizeLessThan: lessThan, ObjectSizeGreaterThan: greaterThan });
  const count = tags.length + Object.keys(conditions).length;
  if (count >= 2) return { And: { ...conditions, ...(tags.length > 0 && { Tags: tags }) } };
  const [Tag] = tags;
  return Tag === undefined ? conditions : { Tag };
}

/** Undefined where no flag is about the filter. */
function editFilter(filter: RuleFilter, values: RuleValues): RuleFilter | undefined {
  const { prefix, tags, lessThan, greaterThan } = values;
  const changed = given({ Prefix: prefix, ObjectSizeLessThan: lessThan, ObjectSizeGreaterThan: greaterThan });
  if (Object.keys(changed).length === 0 && tags === undefined) return undefined;
  const { And = {}, Tag, ...single } = filter;
  const { Tags = Tag === undefined ? [] : [Tag], ...rest } = And;
  const conditions = { ...single, ...rest, ...changed };
  const all = tags ?? Tags;
  const count = all.length + Object.keys(conditions).length;
  if (count >= 2) return { And: { ...conditions, ...(all.length > 0 && { Tags: all }) } };
  const [only] = all;
  return only === undefined ? conditions : { Tag: only };
}

function editExpiration(before: LifecycleRuleFields['Expiration'] = {}, values: RuleValues) {
  const { expireDate, expireDays, loneMarkers, allVersions } = values;
  const end =
    expireDate !== undefined
      ? { Date: expireDate, Days: undefined, ExpiredObjectDeleteMarker: undefined }
      : expireDays !== undefined
        ? { Days: expireDays, Date: undefined }
        : loneMarkers !== undefined
          ? { ExpiredObjectDeleteMarker: loneMarkers, Days: undefined, Date: undefined }
          : {};
  return without({ ...before, ...end, ...given({ ExpiredObjectAllVersions: allVersions }) });
}

function editTransition(before: LifecycleRuleFields['Transition'] = {}, values: RuleValues) {
  const { tier, transitionDate, transitionDays } = values;
  if (tier === undefined && transitionDate === undefined && transitionDays === undefined) return before;
  refuseSeveral('Transition', before);
  const when =
    transitionDate !== undefined
      ? { Date: transitionDate, Days: undefined }
      : transitionDays !== undefined
        ? { Days: transitionDays, Date: undefined }
        : {};
  return without({ ...before, ...when, ...given({ StorageClass: tier }) });
}

function editNoncurrentTransition(before: LifecycleRuleFields['NoncurrentVersionTransition'] = {}, values: RuleValues) {
  const changed = given({
    NoncurrentDays: values.noncurrentTransitionDays,
    NewerNoncurrentVersions: values.noncurrentTransitionKept,
    StorageClass: values.noncurrentTier,
  });
  if (Object.keys(changed).length === 0) return before;
  refuseSeveral('NoncurrentVersionTransition', before);
  return without({ ...before, ...changed });
}

/** A rule of AWS may have several transitions, and the flags are for one. */
function refuseSeveral(name: string, before: unknown): void {
  if (!Array.isArray(before)) return;
  throw bad(`it has ${before.length} elements ${name}: change them by \`ilm rule export\` and \`ilm rule import\``);
}

/** The checks that other clients make before they ask the server. */
function checkRule(rule: LifecycleRuleFields, values: RuleValues, today: Date): void {
  const { Expiration: expiration = {}, NoncurrentVersionTransition: noncurrent = {} } = rule;
  const moved = noncurrent.StorageClass ?? noncurrent.NewerNoncurrentVersions;
  const actions = [rule.Expiration, rule.Transition, rule.NoncurrentVersionExpiration, moved];
  if (actions.every((action) => action === undefined)) {
    throw bad('a rule needs an action, such as --expire-days, --noncurrent-expire-days or --transition-days');
  }
  const { Days, Date: date, ExpiredObjectDeleteMarker: markers } = expiration;
  if ([Days, date, markers].filter((one) => one !== undefined).length > 1) {
    throw bad('a rule expires by days, by a date or by its lone delete markers: add a rule for each');
  }
  checkDates(date, rule.Transition?.Date, today);
  checkTransitions(values);
}

function checkDates(expiration: string | undefined, transition: string | undefined, today: Date): void {
  const midnight = today.toISOString().slice(0, 10);
  for (const date of [expiration, transition]) {
    if (date !== undefined && date.slice(0, 10) < midnight) throw bad(`the date ${date.slice(0, 10)} is past`);
  }
  if (expiration !== undefined && transition !== undefined && expiration < transition) {
    throw bad('objects would expire before their transition');
  }
}

function checkTransitions(values: RuleValues): void {
  const { tier, transitionDays, transitionDate, noncurrentDays, noncurrentTransitionDays, noncurrentTier } = values;
  if (tier !== undefined && transitionDays !== undefined && transitionDate !== undefined) {
    throw bad('a rule has either --transition-days or --transition-date');
  }
  for (const days of [transitionDays, noncurrentDays, noncurrentTransitionDays]) {
    if (days !== undefined && days < 0) throw bad(`${days} days are fewer than none`);
  }
  if (tier === 'STANDARD_IA' && (transitionDays ?? 0) < 30) {
    throw bad('a transition to STANDARD_IA takes at least 30 days');
  }
  if ((noncurrentTransitionDays ?? 0) > 0 && noncurrentTier === undefined) {
    throw bad('--noncurrent-transition-days needs --noncurrent-transition-tier');
  }
}

function tagsOf(text: string): RuleTag[] {
  return text
    .split('&')
    .filter((tag) => tag !== '')
    .map((tag) => {
      const [Key = '', ...value] = tag.split('=');
      return { Key, Value: value.join('=') };
    });
}

function numberOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text);
  throw bad(`\`${text}\` for ${flag} is no whole number`);
}

/** Returns midnight UTC of `YYYY-MM-DD`. */
function dateOf(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = new Date(`${text}T00:00:00Z`);
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(time.getTime());
  // A day that the month does not have becomes one of the next month.
  if (isDate && time.toISOString().startsWith(text)) return `${text}T00:00:00Z`;
  throw bad(`\`${text}\` for ${flag} is no date: write YYYY-MM-DD`);
}

/** Only the fields that have a value. */
function given<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** Without fields that have no value, or an empty object as value. */
function without<Fields extends object>(fields: Fields): { [Name in keyof Fields]: NonNullable<Fields[Name]> } {
  const kept = Object.entries(fields).filter(
    ([, value]) => value !== undefined && !(typeof value === 'object' && Object.keys(value as object).length === 0),
  );
  return Object.fromEntries(kept) as { [Name in keyof Fields]: NonNullable<Fields[Name]> };
}

function bad(why: string): ProgramError {
  return new ProgramError('BadArgument', `Invalid lifecycle rule: ${why}`);
}
