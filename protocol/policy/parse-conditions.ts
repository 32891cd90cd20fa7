import { comparerOf } from './comparisons.ts';
import { conditionOperatorNames, operatorName, parseConditionOperator } from './condition-operators.ts';
import type { ConditionOperator } from './condition-operators.ts';
import type { PolicyCondition } from './document.ts';
import { checkVariables, readObject, refuse } from './policy-fields.ts';

/** Reads the Condition of a statement: operators, each with keys, each with values of the operator's kind. */
export function parseConditions(value: unknown, path: string): PolicyCondition[] {
  if (value === undefined) return [];
  const conditions = Object.entries(readObject(value, path)).flatMap(([written, keys]) => {
    const operator = parseConditionOperator(written);
    if (operator === undefined) {
      const known = conditionOperatorNames.join(', ');
      return refuse(
        path,
        written,
        `is no condition operator; ${known} are, all but Null also after ForAllValues: or ForAnyValue: and before IfExists`,
      );
    }
    const entries = Object.entries(readObject(keys, `${path}.${written}`));
    if (entries.length === 0) refuse(`${path}.${written}`, keys, 'must name a condition key');
    return entries.map(([key, values]) => parseCondition(operator, key, values, `${path}.${written}.${key}`));
  });
  refuseRepetition(conditions, path);
  return conditions;
}

/** Names are compared without regard to case, so that JSON lets both `StringLike` and `stringlike` stand side by side. */
function refuseRepetition(conditions: readonly PolicyCondition[], path: string): void {
  const seen = new Set<string>();
  for (const { operator, key } of conditions) {
    const name = `${operator} ${key.toLowerCase()}`;
    if (seen.has(name)) refuse(path, `${operator} ${key}`, 'is written twice: put its values into one list');
    seen.add(name);
  }
}

function parseCondition(operator: ConditionOperator, key: string, value: unknown, path: string): PolicyCondition {
  if (!/^[a-z0-9]+:[!-~]+$/i.test(key)) refuse(path, key, 'is no condition key such as "s3:prefix" or "aws:username"');
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0) refuse(path, value, 'must hold at least one value');
  const values = list.map((one) => parseValue(operator, one, path));
  return { operator: operatorName(operator), key, values };
}

function parseValue(operator: ConditionOperator, value: unknown, path: string): string {
  // Booleans and numbers may be written without quotes.
  const isText = typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
  const text = isText ? String(value) : refuse(path, value, 'must be a string');
  if (operator.kind === 'null') {
    return /^(true|false)$/i.test(text) ? text : refuse(path, text, 'must be "true" or "false"');
  }
  checkVariables(text, path);
  const problem = comparerOf(operator, text, true);
  return typeof problem === 'string' ? refuse(path, text, problem) : text;
}
