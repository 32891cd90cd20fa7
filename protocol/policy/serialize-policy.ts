import type { PolicyCondition, PolicyDocument, PolicyStatement } from './document.ts';

/** A document as the JSON that it was read from, or could have been: lists where either is allowed, names as documented. */
export function serializePolicy(document: PolicyDocument): string {
  return JSON.stringify(policyJson(document));
}

/** As `serializePolicy`, before it is text. */
export function policyJson({ version, id, statements }: PolicyDocument): Readonly<Record<string, unknown>> {
  return { ...(id === undefined ? {} : { Id: id }), Version: version, Statement: statements.map(statementJson) };
}

function statementJson(statement: PolicyStatement): Readonly<Record<string, unknown>> {
  const { sid, effect, principals, actions, resources, conditions } = statement;
  return {
    ...(sid === undefined ? {} : { Sid: sid }),
    Effect: effect,
    ...(principals === undefined ? {} : { Principal: { AWS: principals } }),
    [actions.kind === 'only' ? 'Action' : 'NotAction']: actions.patterns,
    ...(resources === undefined
      ? {}
      : { [resources.kind === 'only' ? 'Resource' : 'NotResource']: resources.patterns }),
    ...(conditions.length === 0 ? {} : { Condition: conditionJson(conditions) }),
  };
}

/** The parser refuses the same operator and key twice, so that nothing is lost here. */
function conditionJson(conditions: readonly PolicyCondition[]): Readonly<Record<string, unknown>> {
  const byOperator = Map.groupBy(conditions, ({ operator }) => operator);
  return Object.fromEntries(
    [...byOperator].map(([operator, keys]) => [
      operator,
      Object.fromEntries(keys.map(({ key, values }) => [key, values])),
    ]),
  );
}
