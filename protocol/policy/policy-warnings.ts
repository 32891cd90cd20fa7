import { actionsOf, actionsWith } from './check-applicability.ts';
import { parseDate } from './condition-values.ts';
import { parseConditionOperator, type ConditionOperator } from './condition-operators.ts';
import type { PolicyCondition, PolicyDocument, PolicyStatement } from './document.ts';
import { matchesText, textMatcher } from './glob.ts';
import { isSupported } from './known-names.ts';

/**
 * Lists what a valid document does that its author may not want, one sentence each.
 *
 * @param use `boundary` for the policy of an access key, which gives nothing by itself
 */
export function policyWarnings({ statements }: PolicyDocument, use: 'grant' | 'boundary' = 'grant'): readonly string[] {
  return statements.flatMap((statement, index) => {
    const name = `Statement ${statement.sid ?? `#${index + 1}`}`;
    return [...(use === 'grant' ? administrationWarnings(statement, name) : []), ...conditionWarnings(statement, name)];
  });
}

/** Finds an Allow with `NotAction` that gives the administration of the server too. */
function administrationWarnings({ effect, actions, resources }: PolicyStatement, name: string): readonly string[] {
  if (effect !== 'Allow' || actions.kind !== 'all-but') return [];
  const all = resources === undefined || resources.kind === 'all-but' || resources.patterns.some(isEverything);
  const services = ['admin', 'kms'].filter((service) => !actions.patterns.some((one) => coversService(one, service)));
  if (!all || services.length === 0) return [];
  const given = services.map((service) => `${service}:*`).join(' and ');
  return [
    `${name} allows everything but what NotAction names, so also ${given}: who has it administers the server. Name the allowed actions in Action, such as s3:*, or add ${given} to NotAction.`,
  ];
}

/** Reports whether a pattern matches everything. `arn:aws:s3:::*` does, as `*` does. */
function isEverything(pattern: string): boolean {
  return /^(arn:aws:s3:::)?\*+$/.test(pattern);
}

function coversService(pattern: string, service: string): boolean {
  return ['*', `${service}:*`].includes(pattern.toLowerCase());
}

type Read = PolicyCondition & { readonly operatorOf: ConditionOperator | undefined; readonly lower: string };

/** Finds conditions that can never hold, so that the statement, or one of its actions, never applies. */
function conditionWarnings({ effect, actions, conditions }: PolicyStatement, name: string): readonly string[] {
  const read = conditions.map((condition): Read => ({
    ...condition,
    operatorOf: parseConditionOperator(condition.operator),
    lower: condition.key.toLowerCase(),
  }));
  const unknown = read.find(({ lower }) => !isSupported(lower));
  // A Deny by such a key is refused.
  if (unknown !== undefined && effect === 'Allow')
    return [`${name} never allows anything: no request to this server has ${unknown.key} (${unknown.operator}).`];
  const excluding = read.flatMap((one, at) =>
    read
      .slice(at + 1)
      .filter((other) => mayBeSure(effect, one, other) && (exclude(one, other) || exclude(other, one)))
      .map((other) => [one, other] as const),
  )[0];
  if (excluding !== undefined) {
    const [one, other] = excluding;
    const does = effect === 'Allow' ? 'allows' : 'denies';
    return [`${name} never ${does} anything: ${one.operator} and ${other.operator} of ${one.key} never hold together.`];
  }
  // A Deny by what clients do not send with an action still holds for who sends it, and for the source of a copy.
  if (actions.kind === 'all-but' || effect === 'Deny') return [];
  return actions.patterns.flatMap((pattern) => {
    const named = actionsOf(pattern);
    const without = read.find(({ operatorOf, values, lower }) => {
      const having = actionsWith(lower);
      return (
        named.length > 0 &&
        having !== undefined &&
        needsKey(operatorOf, values) &&
        !named.some((action) => having.includes(action))
      );
    });
    if (without === undefined) return [];
    return [
      `${name} allows ${pattern} only to requests with ${without.key} (${without.operator}), which clients send with other actions. Put ${pattern} into a statement without this condition.`,
    ];
  });
}

/** A Deny also holds where a value cannot be read, or where a claim is not known. */
function mayBeSure(effect: PolicyStatement['effect'], ...conditions: readonly Read[]): boolean {
  if (effect === 'Allow') return true;
  return conditions.every(({ lower, operatorOf }) => {
    const isText = operatorOf?.kind === 'null' || operatorOf?.family === 'String';
    return isText && !/^(?:jwt|ldap):/u.test(lower);
  });
}

/** Reports whether a condition holds only where the request has its key. */
function needsKey(operator: ConditionOperator | undefined, values: readonly string[]): boolean {
  if (operator === undefined) return false;
  if (operator.kind === 'null') return values.every((value) => value.toLowerCase() === 'false');
  return !operator.negated && !operator.ifExists && operator.quantifier !== 'all';
}

/** Reports whether the first condition needs what the second one forbids. Values with variables are not compared. */
function exclude(first: Read, second: Read): boolean {
  const [one, other] = [first.operatorOf, second.operatorOf];
  if (first.lower !== second.lower || one === undefined || other === undefined || !needsKey(one, first.values))
    return false;
  if (other.kind === 'null') return second.values.every((value) => value.toLowerCase() === 'true');
  if (one.kind === 'null' || one.quantifier !== 'none' || other.quantifier !== 'none' || one.family !== other.family)
    return false;
  if ([...first.values, ...second.values].some((value) => value.includes('${'))) return false;
  if (one.family === 'String') {
    if (one.comparison === 'like' || !other.negated) return false;
    return first.values.every((value) =>
      second.values.some((forbidden) => covers(other.comparison, forbidden, one.comparison, value)),
    );
  }
  // A claim may have several values, one for each bound.
  if (first.lower.startsWith('jwt:') || one.negated || other.negated || other.ifExists) return false;
  return areApart(
    least(one.comparison, measured(one.family, first.values)),
    greatest(other.comparison, measured(other.family, second.values)),
  );
}

/** Reports whether no value lies between the bounds. */
function areApart(lowest: Bound | undefined, highest: Bound | undefined): boolean {
  if (lowest === undefined || highest === undefined) return false;
  return lowest.value > highest.value || (lowest.value === highest.value && !(lowest.included && highest.included));
}

/** Returns the values as numbers, or none if one cannot be compared exactly. */
function measured(family: string, texts: readonly string[]): readonly number[] {
  const values = texts.map((text) =>
    family === 'Numeric' ? Number(text) : family === 'Date' ? parseDate(text) : undefined,
  );
  const exact = values.filter(
    (value): value is number => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER,
  );
  return exact.length === texts.length ? exact : [];
}

/** Reports whether a forbidden value covers each text that a wanted value stands for. */
function covers(by: string, forbidden: string, wantedBy: string, wanted: string): boolean {
  if (by === 'equal-ignoring-case') return forbidden.toLowerCase() === wanted.toLowerCase();
  if (wantedBy === 'equal-ignoring-case') return false;
  return by === 'like' ? matchesText(textMatcher(forbidden), wanted) : forbidden === wanted;
}

interface Bound {
  readonly value: number;
  readonly included: boolean;
}

/** Returns the least value that some of the values lets through; undefined without one. */
function least(comparison: string, values: readonly number[]): Bound | undefined {
  if (values.length === 0) return undefined;
  if (comparison === 'equal' || comparison === 'greater-or-equal')
    return { value: Math.min(...values), included: true };
  return comparison === 'greater' ? { value: Math.min(...values), included: false } : undefined;
}

function greatest(comparison: string, values: readonly number[]): Bound | undefined {
  if (values.length === 0) return undefined;
  if (comparison === 'equal' || comparison === 'less-or-equal') return { value: Math.max(...values), included: true };
  return comparison === 'less' ? { value: Math.max(...values), included: false } : undefined;
}
