import type { ReactNode } from 'react';
import { xml, xmlDocument } from '../../text/xml.ts';
import { say, type Say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';

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

/** Describes a rule in sentences; `put` puts its prefix and its tiers into them. */
export function describeRule(rule: Rule, put: Say<ReactNode> = say): readonly ReactNode[] {
  if (rule.kind === 'other') {
    return [t.lifecycle.itHasFiltersOrActionsThatThis];
  }
  const { prefix, expireDays, noncurrentDays, keepVersions, abortDays, removeLoneMarkers } = rule;
  const { moveDays, moveTier, oldMoveDays, oldMoveTier } = rule;
  const all = prefix === '';
  const sentences: ReactNode[] = [];
  if (moveDays !== undefined && moveTier !== undefined) {
    if (moveDays === 0) {
      sentences.push(
        all
          ? put(t.lifecycle.objectsMoveToTheTierAsSoon, { moveTier })
          : put(t.lifecycle.objectsWhoseKeysBeginWithMoveTo, { prefix, moveTier }),
      );
    } else {
      sentences.push(
        all
          ? put(t.lifecycle.objectsMoveToTheTierDaysAfter, { moveTier, moveDays })
          : put(t.lifecycle.objectsWhoseKeysBeginWithMoveToPrefixMoveTierMoveDays, { prefix, moveTier, moveDays }),
      );
    }
  }
  if (oldMoveDays !== undefined && oldMoveTier !== undefined) {
    sentences.push(put(t.lifecycle.oldVersionsMoveToTheTierDays, { oldMoveTier, oldMoveDays }));
  }
  if (expireDays !== undefined) {
    sentences.push(
      all
        ? put(t.lifecycle.objectsAreDeletedDaysAfterTheyWere, { expireDays })
        : put(t.lifecycle.objectsWhoseKeysBeginWithAreDeleted, { prefix, expireDays }),
    );
  }
  if (noncurrentDays !== undefined) {
    sentences.push(
      keepVersions === undefined
        ? put(t.lifecycle.oldVersionsAreRemovedDaysAfterThey, { noncurrentDays })
        : put(t.lifecycle.oldVersionsAreRemovedDaysAfterTheyNoncurrentDaysKeepVersions, {
            noncurrentDays,
            keepVersions,
          }),
    );
  }
  if (removeLoneMarkers) sentences.push(t.lifecycle.deleteMarkersWithoutAnyVersionBeforeThem);
  if (abortDays !== undefined)
    sentences.push(put(t.lifecycle.unfinishedUploadsAreRemovedDaysAfterTheir, { abortDays }));
  return sentences.length === 0 ? [t.lifecycle.itDoesNothing] : sentences;
}

/** Returns the error of a rule; undefined if it can be saved. */
export function ruleIssue(rule: SimpleRule): string | undefined {
  const { expireDays, noncurrentDays, keepVersions, abortDays, removeLoneMarkers } = rule;
  const counts = [expireDays, noncurrentDays, keepVersions, abortDays].filter((count) => count !== undefined);
  if (counts.some((count) => !Number.isInteger(count) || count < 1))
    return t.lifecycle.daysAndCountsAreWholeNumbersFrom;
  const wrongMove = moveIssue(rule);
  if (wrongMove !== undefined) return wrongMove;
  if (expireDays !== undefined && removeLoneMarkers) {
    return t.lifecycle.aRuleCannotBothExpireObjectsAnd;
  }
  if (keepVersions !== undefined && noncurrentDays === undefined) return t.lifecycle.sayAfterHowManyDaysOldVersions;
  if (keepVersions !== undefined && keepVersions > 100) return t.lifecycle.atMost100OldVersionsCanBe;
  const movesNothing = rule.moveDays === undefined && rule.oldMoveDays === undefined;
  if (counts.length === 0 && !removeLoneMarkers && movesNothing) return t.lifecycle.chooseAtLeastOneThingThatThe;
  return undefined;
}

function moveIssue({ moveDays, moveTier, oldMoveDays, oldMoveTier, expireDays, noncurrentDays }: SimpleRule) {
  const moves = [
    [moveDays, moveTier, expireDays],
    [oldMoveDays, oldMoveTier, noncurrentDays],
  ] as const;
  for (const [after, tier, removal] of moves) {
    if ((after === undefined) !== (tier === undefined)) return t.lifecycle.aMoveHasBothDaysAndA;
    if (after === undefined) continue;
    if (!Number.isInteger(after) || after < 0) return t.lifecycle.daysUntilAMoveAreWholeNumbers;
    if (removal !== undefined && removal <= after) return t.lifecycle.whatMovesToATierIsDeleted;
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
