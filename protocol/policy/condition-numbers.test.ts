import { describe, expect, it } from 'vitest';
import { both, holds, type Actual } from '../../test/support/policy/policy-cases.ts';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_Numeric */
describe('numeric operators', () => {
  it.each<[string, unknown, Actual, boolean]>([
    ['NumericEquals', '10', '10', true],
    ['NumericEquals', 10, '10', true],
    ['NumericEquals', '10', '11', false],
    ['NumericEquals', '10', '10.0', true],
    ['NumericEquals', '010', '10', true],
    ['NumericEquals', '0.1', '0.10', true],
    ['NumericEquals', '-1', '-1', true],
    ['NumericEquals', '-0', '0', true],
    ['NumericEquals', '+5', '5', true],
    ['NumericEquals', ['1', '2'], '2', true],
    ['NumericEquals', ['1', '2'], '3', false],
    ['NumericEquals', '10', undefined, false],
    // Exact beyond what a floating-point number holds.
    ['NumericEquals', '9007199254740993', '9007199254740992', false],
    ['NumericNotEquals', '10', '10', false],
    ['NumericNotEquals', '10', '11', true],
    ['NumericNotEquals', ['1', '2'], '2', false],
    ['NumericNotEquals', ['1', '2'], '3', true],
    ['NumericNotEquals', '10', undefined, true],
    ['NumericLessThan', '10', '9', true],
    ['NumericLessThan', '10', '9.99', true],
    ['NumericLessThan', '10', '10', false],
    ['NumericLessThan', '10', '100', false],
    ['NumericLessThan', '10', '-100', true],
    ['NumericLessThan', '10', undefined, false],
    ['NumericLessThanEquals', '10', '10', true],
    ['NumericLessThanEquals', '10', '10.01', false],
    ['NumericLessThanEquals', '10', '2', true],
    ['NumericLessThanEquals', '10', undefined, false],
    ['NumericGreaterThan', '10', '11', true],
    ['NumericGreaterThan', '10', '10', false],
    ['NumericGreaterThan', '10', '9', false],
    ['NumericGreaterThan', '9007199254740992', '9007199254740993', true],
    ['NumericGreaterThan', '10', undefined, false],
    ['NumericGreaterThanEquals', '10', '10', true],
    ['NumericGreaterThanEquals', '10', '9', false],
    ['NumericGreaterThanEquals', '0.5', '1', true],
    ['NumericGreaterThanEquals', '10', undefined, false],
    // Several values: any of them.
    ['NumericLessThan', ['5', '10'], '7', true],
    ['NumericLessThan', ['5', '10'], '12', false],
  ])('%s %j on %j: %s', (operator, expected, actual, outcome) => {
    expect(holds(operator, expected, actual)).toEqual(both(outcome));
  });

  it.each(['ten', '', ' 10', '1e3', '0x10', '1_000', '1,5', '10.', '.5', 'NaN', 'Infinity', '--1', '9'.repeat(41)])(
    'on "%s" of a request never allow, and deny',
    (actual) => {
      for (const operator of ['NumericEquals', 'NumericNotEquals', 'NumericLessThan', 'NumericGreaterThan']) {
        expect(holds(operator, '10', actual)).toEqual({ allow: false, deny: true });
      }
    },
  );

  it.each(['ten', '', '1e3', '10 ', '${aws:username}', null, {}])('refuse the value %j', (value) => {
    expect(() => holds('NumericEquals', value, '1')).toThrow(expect.objectContaining({ code: 'MalformedPolicy' }));
  });
});
