import { describe, expect, it } from 'vitest';
import { both, holds, type Actual } from '../../test/support/policy/policy-cases.ts';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_String */
describe('string operators', () => {
  it.each<[string, unknown, Actual, boolean]>([
    // Exact, and with regard to case.
    ['StringEquals', 'home', 'home', true],
    ['StringEquals', 'home', 'Home', false],
    ['StringEquals', 'home', 'home/', false],
    ['StringEquals', 'home', ' home', false],
    ['StringEquals', '', '', true],
    ['StringEquals', '', 'home', false],
    ['StringEquals', ['', 'home/'], '', true],
    ['StringEquals', ['a', 'b'], 'b', true],
    ['StringEquals', ['a', 'b'], 'c', false],
    ['StringEquals', 'a', undefined, false],
    ['StringEquals', 'ü', 'ü', true],
    // Wildcards have no meaning.
    ['StringEquals', '*', 'home', false],
    ['StringEquals', '*', '*', true],
    ['StringEquals', 'h?me', 'home', false],
    ['StringEquals', 'h?me', 'h?me', true],
    // Numbers and truth values without quotes are their text.
    ['StringEquals', 10, '10', true],
    ['StringEquals', true, 'true', true],
    ['StringNotEquals', 'home', 'home', false],
    ['StringNotEquals', 'home', 'Home', true],
    ['StringNotEquals', ['a', 'b'], 'b', false],
    ['StringNotEquals', ['a', 'b'], 'c', true],
    ['StringNotEquals', 'a', undefined, true],
    ['StringNotEquals', '*', 'home', true],
    ['StringEqualsIgnoreCase', 'home', 'HOME', true],
    ['StringEqualsIgnoreCase', 'HoMe', 'hOmE', true],
    ['StringEqualsIgnoreCase', 'home', 'homes', false],
    ['StringEqualsIgnoreCase', ['a', 'B'], 'b', true],
    ['StringEqualsIgnoreCase', 'h*', 'home', false],
    ['StringEqualsIgnoreCase', 'home', undefined, false],
    ['StringNotEqualsIgnoreCase', 'home', 'HOME', false],
    ['StringNotEqualsIgnoreCase', 'home', 'house', true],
    ['StringNotEqualsIgnoreCase', ['a', 'b'], 'B', false],
    ['StringNotEqualsIgnoreCase', 'home', undefined, true],
    // Like: with wildcards, and with regard to case.
    ['StringLike', 'home', 'home', true],
    ['StringLike', 'home', 'homes', false],
    ['StringLike', 'home/*', 'home/ann/x', true],
    ['StringLike', 'home/*', 'home/', true],
    ['StringLike', 'home/*', 'home', false],
    ['StringLike', 'home/*', 'Home/ann', false],
    ['StringLike', '*/ann', 'home/ann', true],
    ['StringLike', '*/ann', 'home/ann/', false],
    ['StringLike', 'h*/*n', 'home/ann', true],
    ['StringLike', 'h?me', 'home', true],
    ['StringLike', 'h?me', 'hme', false],
    ['StringLike', 'h?me', 'hoome', false],
    ['StringLike', '*', '', true],
    ['StringLike', '*', 'anything', true],
    ['StringLike', '?', '', false],
    ['StringLike', '', '', true],
    ['StringLike', ['', 'home/'], '', true],
    ['StringLike', 'a.c', 'abc', false],
    ['StringLike', 'a+c', 'aac', false],
    ['StringLike', '[ab]', 'a', false],
    ['StringLike', '*', undefined, false],
    ['StringLike', ['x*', 'y*'], 'yes', true],
    ['StringNotLike', 'home/*', 'home/ann', false],
    ['StringNotLike', 'home/*', 'etc', true],
    ['StringNotLike', ['a*', 'b*'], 'back', false],
    ['StringNotLike', ['a*', 'b*'], 'cat', true],
    ['StringNotLike', '*', undefined, true],
    ['StringNotLike', '*', '', false],
  ])('%s %j on %j: %s', (operator, expected, actual, outcome) => {
    expect(holds(operator, expected, actual)).toEqual(both(outcome));
  });

  it.each(['stringequals', 'STRINGEQUALS', 'StringEQUALS'])('are known as %s too', (operator) => {
    expect(holds(operator, 'a', 'a')).toEqual(both(true));
  });
});
