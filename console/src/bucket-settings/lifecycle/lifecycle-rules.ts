import type { ReactNode } from 'react';
import { elementAt, newElement, textAt, withAll, writeEdited } from '../../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../../protocol/s3/xml-reader.ts';
import {
  type Edited,
  type ElementField,
  ElementForm,
  filterPrefix,
  flagField,
  numberField,
  statusField,
  textField,
} from '../../text/element-form.ts';
import { formatExactTime } from '../../text/format.ts';
import { say, type Say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';

/** A rule as the editor has it. */
export interface RuleFields {
  readonly id: string;
  readonly enabled: boolean;
  readonly prefix: string;
  readonly expireDays: number | undefined;
  readonly noncurrentDays: number | undefined;
  /** The newest noncurrent versions that stay. Without `noncurrentDays` all others go at once. */
  readonly keepVersions: number | undefined;
  readonly abortDays: number | undefined;
  /** Days after which objects move to a tier; 0 moves new objects at once. */
  readonly moveDays: number | undefined;
  readonly moveTier: string | undefined;
  /** Days after which noncurrent versions move to a tier. */
  readonly oldMoveDays: number | undefined;
  readonly oldMoveTier: string | undefined;
  readonly removeLoneMarkers: boolean;
}

export type Rule = Edited<RuleFields>;

const form = new ElementForm<RuleFields>({
  id: textField('ID'),
  enabled: statusField('Status'),
  prefix: filterPrefix,
  expireDays: numberField('Expiration', 'Days'),
  noncurrentDays: numberField('NoncurrentVersionExpiration', 'NoncurrentDays'),
  keepVersions: numberField('NoncurrentVersionExpiration', 'NewerNoncurrentVersions'),
  abortDays: numberField('AbortIncompleteMultipartUpload', 'DaysAfterInitiation'),
  moveDays: moveDays('Transition', 'Days'),
  moveTier: moveTier('Transition'),
  oldMoveDays: moveDays('NoncurrentVersionTransition', 'NoncurrentDays'),
  oldMoveTier: moveTier('NoncurrentVersionTransition'),
  removeLoneMarkers: flagField('Expiration', 'ExpiredObjectDeleteMarker'),
});

/** A transition without days moves at once, as `mc ilm rule add --transition-days 0` writes it. The form has no field for one at a date. */
function moveDays(action: string, name: string): ElementField<number | undefined> {
  const field = numberField(action, name);
  return {
    ...field,
    read: (element) => field.read(element) ?? (moveTier(action).read(element) === undefined ? undefined : 0),
  };
}

function moveTier(action: string): ElementField<string | undefined> {
  const field = textField(action, 'StorageClass');
  return {
    read: (element) =>
      elementAt(element, [action, 'Date']) === undefined ? field.read(element) || undefined : undefined,
    write: (element, tier) => field.write(element, tier ?? ''),
    paths: field.paths,
  };
}

/** The field that an action cannot be without. The rest of an action, such as the versions that stay, goes with it. */
const actionNeeds: Readonly<Record<string, readonly string[]>> = {
  Expiration: ['Days', 'Date', 'ExpiredObjectDeleteMarker'],
  Transition: ['StorageClass'],
  NoncurrentVersionTransition: ['StorageClass'],
};

function isWholeAction({ name, children }: XmlNode): boolean {
  const needed = actionNeeds[name];
  return needed === undefined || children.some((child) => needed.includes(child.name));
}

/** Reads an element `Rule`. */
export function lifecycleRule(element: XmlNode): Rule {
  return form.read(element);
}

/** Returns the element `Rule` with what the user changed. */
function lifecycleElement(rule: Rule): XmlNode {
  const written = form.write(rule);
  return written === rule.element ? written : { ...written, children: written.children.filter(isWholeAction) };
}

/** The parts of a rule that the form has no field for. A date of the rule is said in a sentence too. */
export function unknownOfRule({ element }: Rule): readonly string[] {
  return form.unknown(element);
}

export const emptyRule: Rule = lifecycleRule(
  newElement('Rule', [newElement('Status', 'Enabled'), newElement('Filter', [newElement('Prefix', '')])]),
);

/** Describes a rule in sentences; `put` puts its prefix and its tiers into them. */
export function describeRule(rule: Rule, put: Say<ReactNode> = say): readonly ReactNode[] {
  const { prefix, expireDays, noncurrentDays, keepVersions, abortDays, removeLoneMarkers } = rule;
  const { moveDays, moveTier, oldMoveDays, oldMoveTier } = rule;
  const all = prefix === '';
  const sentences: ReactNode[] = [...dateSentences(rule, put)];
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
  if (noncurrentDays === undefined && keepVersions !== undefined) {
    sentences.push(put(t.lifecycle.oldVersionsAreRemovedAtOnceExcept, { keepVersions }));
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
  return sentences.length === 0 && unknownOfRule(rule).length === 0 ? [t.lifecycle.itDoesNothing] : sentences;
}

/** Dates of a rule are days of UTC. The sentences say them in the time of the user, with its zone. */
function dateSentences({ element }: Rule, put: Say<ReactNode>): readonly ReactNode[] {
  const expires = textAt(element, ['Expiration', 'Date']);
  const moves = textAt(element, ['Transition', 'Date']);
  const moveTier = textAt(element, ['Transition', 'StorageClass']) ?? '';
  return [
    ...(moves === undefined
      ? []
      : [put(t.lifecycle.objectsMoveToTheTierAt, { moveTier, time: formatExactTime(moves) })]),
    ...(expires === undefined ? [] : [put(t.lifecycle.objectsAreDeletedAt, { time: formatExactTime(expires) })]),
  ];
}

/** Returns the error of a rule; undefined if it can be saved. */
export function ruleIssue(rule: Rule): string | undefined {
  const { expireDays, noncurrentDays, keepVersions, abortDays, removeLoneMarkers } = rule;
  const counts = [expireDays, noncurrentDays, keepVersions, abortDays].filter((count) => count !== undefined);
  if (counts.some((count) => !Number.isInteger(count) || count < 1))
    return t.lifecycle.daysAndCountsAreWholeNumbersFrom;
  const has = (...path: string[]) => elementAt(rule.element, path) !== undefined;
  if ((expireDays !== undefined || removeLoneMarkers) && has('Expiration', 'Date'))
    return t.lifecycle.theRuleDeletesAtADate;
  if (rule.moveDays !== undefined && has('Transition', 'Date')) return t.lifecycle.theRuleMovesAtADate;
  const wrongMove = moveIssue(rule);
  if (wrongMove !== undefined) return wrongMove;
  if (expireDays !== undefined && removeLoneMarkers) {
    return t.lifecycle.aRuleCannotBothExpireObjectsAnd;
  }
  if (keepVersions !== undefined && keepVersions > 100) return t.lifecycle.atMost100OldVersionsCanBe;
  const movesNothing = rule.moveDays === undefined && rule.oldMoveDays === undefined;
  const actsOtherwise = has('Expiration', 'Date') || has('Transition', 'Date') || has('DelMarkerExpiration');
  if (counts.length === 0 && !removeLoneMarkers && movesNothing && !actsOtherwise) {
    return t.lifecycle.chooseAtLeastOneThingThatThe;
  }
  return undefined;
}

function moveIssue({ moveDays, moveTier, oldMoveDays, oldMoveTier, expireDays, noncurrentDays }: RuleFields) {
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

/** The document of PutBucketLifecycleConfiguration: that which was read, with these rules. */
export function lifecycleDocument(rules: readonly Rule[], before: XmlNode = emptyLifecycle): string {
  return writeEdited(withAll(before, 'Rule', rules.map(lifecycleElement)));
}

const emptyLifecycle = newElement('LifecycleConfiguration', []);
