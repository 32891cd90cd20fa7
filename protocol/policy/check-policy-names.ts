import type { PolicyDocument, PolicyStatement } from './document.ts';
import {
  supportedKeys,
  unsupportedKeys,
  isSupported,
  isUnsupported,
  knownActions,
  nearestName,
} from './known-names.ts';
import { refuse } from './parse-statement.ts';
import { matchesText, textMatcher } from './glob.ts';

const lowerActions = knownActions.map((action) => action.toLowerCase());
const maxComparedLength = 128;

/**
 * Refuses a new document that means less than its author wants: an action or a condition key that does not exist, or a Deny by a key that
 * no request to this server has. Stored documents are not checked; `deniesAlways` reports them.
 *
 * @throws S3Error `MalformedPolicy` that names the field, its value and the nearest name
 */
export function checkPolicyNames({ statements }: PolicyDocument): void {
  for (const [index, statement] of statements.entries()) {
    const path = `Statement[${index}]`;
    checkActions(statement, path);
    checkKeys(statement, path);
  }
}

function checkActions({ actions }: PolicyStatement, path: string): void {
  for (const pattern of actions.patterns) {
    const matcher = textMatcher(pattern.toLowerCase());
    if (lowerActions.some((action) => matchesText(matcher, action))) continue;
    const field = `${path}.${actions.kind === 'only' ? 'Action' : 'NotAction'}`;
    const nearest = nearestName(pattern.slice(0, maxComparedLength), ofService(pattern));
    refuse(field, pattern, `is no action that exists; the nearest is "${nearest}"`);
  }
}

/** Returns the actions with the prefix of the pattern, such as `s3:`, or all of them if it has another one. */
function ofService(pattern: string): readonly string[] {
  const prefix = pattern.slice(0, pattern.indexOf(':') + 1).toLowerCase();
  const found = knownActions.filter((action) => action.startsWith(prefix));
  return found.length === 0 ? knownActions : found;
}

function checkKeys({ effect, conditions }: PolicyStatement, path: string): void {
  for (const { operator, key } of conditions) {
    const lower = key.toLowerCase();
    if (isSupported(lower)) continue;
    const field = `${path}.Condition.${operator}`;
    if (!isUnsupported(lower)) {
      const nearest = nearestName(key.slice(0, maxComparedLength), [...supportedKeys, ...unsupportedKeys]);
      refuse(field, key, `is no condition key that exists; the nearest is "${nearest}"`);
    }
    if (effect === 'Deny') {
      refuse(
        field,
        key,
        'cannot be evaluated here, since no request to this server has it: the Deny would be lost. Deny without the condition, or by another key',
      );
    }
  }
}

/**
 * Finds the statements of a stored document that always deny, because the server cannot evaluate their condition, and the keys of these
 * conditions.
 */
export function deniesAlways({
  statements,
}: PolicyDocument): readonly { statement: string; keys: readonly string[] }[] {
  return statements.flatMap(({ effect, sid, conditions }, index) => {
    const keys = conditions.map(({ key }) => key).filter((key) => !isSupported(key.toLowerCase()));
    return effect === 'Deny' && keys.length > 0 ? [{ statement: sid ?? `#${index + 1}`, keys }] : [];
  });
}
