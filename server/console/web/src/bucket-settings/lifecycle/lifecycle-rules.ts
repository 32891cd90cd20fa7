import { xml, xmlDocument } from '../../text/xml.ts';

/** A rule as the editor has it. */
export interface SimpleRule {
  readonly kind: 'simple';
  readonly id: string;
  readonly enabled: boolean;
  readonly prefix: string;
  readonly expireDays?: number | undefined;
  readonly noncurrentDays?: number | undefined;
  /** The newest noncurrent versions that stay. */
  readonly keepVersions?: number | undefined;
  readonly abortDays?: number | undefined;
  /** Days after which objects move to a tier; 0 moves new objects at once. */
  readonly moveDays?: number | undefined;
  readonly moveTier?: string | undefined;
  /** Days after which noncurrent versions move to a tier. */
  readonly oldMoveDays?: number | undefined;
  readonly oldMoveTier?: string | undefined;
  readonly removeLoneMarkers: boolean;
}

/** A rule with filters or actions that the editor does not have. It is kept as it is. */
export interface OtherRule {
  readonly kind: 'other';
  readonly id: string;
  readonly enabled: boolean;
  readonly markup: string;
}

export type Rule = SimpleRule | OtherRule;

export const emptyRule: SimpleRule = { kind: 'simple', id: '', enabled: true, prefix: '', removeLoneMarkers: false };

/** Describes a rule in sentences. */
export function describeRule(rule: Rule): readonly string[] {
  if (rule.kind === 'other') {
    return ['It has filters or actions that this page cannot edit. It is kept as it is; change it with an S3 client.'];
  }
  const { prefix, expireDays, noncurrentDays, keepVersions, abortDays, removeLoneMarkers } = rule;
  const { moveDays, moveTier, oldMoveDays, oldMoveTier } = rule;
  const what = prefix === '' ? 'Objects' : `Objects whose keys begin with “${prefix}”`;
  const sentences = [];
  if (moveDays !== undefined && moveTier !== undefined) {
    const when = moveDays === 0 ? 'as soon as they are stored' : `${days(moveDays)} after they were stored`;
    sentences.push(`${what} move to the tier ${moveTier} ${when}.`);
  }
  if (oldMoveDays !== undefined && oldMoveTier !== undefined) {
    sentences.push(`Old versions move to the tier ${oldMoveTier} ${days(oldMoveDays)} after they were replaced.`);
  }
  if (expireDays !== undefined) sentences.push(`${what} are deleted ${days(expireDays)} after they were stored.`);
  if (noncurrentDays !== undefined) {
    const kept = keepVersions === undefined ? '' : `, except the newest ${keepVersions} of each key`;
    sentences.push(`Old versions are removed ${days(noncurrentDays)} after they were replaced${kept}.`);
  }
  if (removeLoneMarkers) sentences.push('Delete markers without any version before them are removed.');
  if (abortDays !== undefined) sentences.push(`Unfinished uploads are removed ${days(abortDays)} after their start.`);
  return sentences.length === 0 ? ['It does nothing.'] : sentences;
}

function days(count: number): string {
  return count === 1 ? '1 day' : `${count} days`;
}

/** Returns the error of a rule; undefined if it can be saved. */
export function ruleProblem(rule: SimpleRule): string | undefined {
  const { expireDays, noncurrentDays, keepVersions, abortDays, removeLoneMarkers } = rule;
  const counts = [expireDays, noncurrentDays, keepVersions, abortDays].filter((count) => count !== undefined);
  if (counts.some((count) => !Number.isInteger(count) || count < 1))
    return 'Days and counts are whole numbers from 1 on.';
  const wrongMove = moveProblem(rule);
  if (wrongMove !== undefined) return wrongMove;
  if (expireDays !== undefined && removeLoneMarkers) {
    return 'A rule cannot both expire objects and remove delete markers: make two rules.';
  }
  if (keepVersions !== undefined && noncurrentDays === undefined) return 'Say after how many days old versions go.';
  if (keepVersions !== undefined && keepVersions > 100) return 'At most 100 old versions can be kept.';
  const movesNothing = rule.moveDays === undefined && rule.oldMoveDays === undefined;
  if (counts.length === 0 && !removeLoneMarkers && movesNothing) return 'Choose at least one thing that the rule does.';
  return undefined;
}

function moveProblem({ moveDays, moveTier, oldMoveDays, oldMoveTier, expireDays, noncurrentDays }: SimpleRule) {
  const moves = [
    [moveDays, moveTier, expireDays],
    [oldMoveDays, oldMoveTier, noncurrentDays],
  ] as const;
  for (const [after, tier, removal] of moves) {
    if ((after === undefined) !== (tier === undefined)) return 'A move has both days and a tier.';
    if (after === undefined) continue;
    if (!Number.isInteger(after) || after < 0) return 'Days until a move are whole numbers from 0 on.';
    if (removal !== undefined && removal <= after) return 'What moves to a tier is deleted later than it moves.';
  }
  return undefined;
}

/** The document of PutBucketLifecycleConfiguration. */
export function lifecycleDocument(rules: readonly Rule[]): string {
  return xmlDocument(
    'LifecycleConfiguration',
    rules.map((rule) => (rule.kind === 'other' ? { markup: rule.markup } : simpleElement(rule))),
  );
}

function simpleElement(rule: SimpleRule) {
  const { id, enabled, prefix, expireDays, noncurrentDays, keepVersions, abortDays, removeLoneMarkers } = rule;
  const keep = keepVersions === undefined ? [] : [xml('NewerNoncurrentVersions', keepVersions)];
  return xml('Rule', [
    ...(id === '' ? [] : [xml('ID', id)]),
    xml('Status', enabled ? 'Enabled' : 'Disabled'),
    xml('Filter', [xml('Prefix', prefix)]),
    ...(expireDays === undefined ? [] : [xml('Expiration', [xml('Days', expireDays)])]),
    ...(removeLoneMarkers ? [xml('Expiration', [xml('ExpiredObjectDeleteMarker', true)])] : []),
    ...(noncurrentDays === undefined
      ? []
      : [xml('NoncurrentVersionExpiration', [xml('NoncurrentDays', noncurrentDays), ...keep])]),
    ...(rule.moveTier === undefined
      ? []
      : [xml('Transition', [xml('Days', rule.moveDays ?? 0), xml('StorageClass', rule.moveTier)])]),
    ...(rule.oldMoveTier === undefined
      ? []
      : [
          xml('NoncurrentVersionTransition', [
            xml('NoncurrentDays', rule.oldMoveDays ?? 0),
            xml('StorageClass', rule.oldMoveTier),
          ]),
        ]),
    ...(abortDays === undefined
      ? []
      : [xml('AbortIncompleteMultipartUpload', [xml('DaysAfterInitiation', abortDays)])]),
  ]);
}
