import { describe, expect, it } from 'vitest';
import { both, holds, type Actual } from '../../test/support/policy/policy-cases.ts';

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_Boolean */
describe('Bool', () => {
  it.each<[unknown, Actual, boolean]>([
    ['true', 'true', true],
    ['true', 'false', false],
    ['false', 'false', true],
    ['false', 'true', false],
    ['true', 'True', true],
    ['TRUE', 'true', true],
    [true, 'true', true],
    [false, 'true', false],
    [['true', 'false'], 'true', true],
    ['true', undefined, false],
    ['false', undefined, false],
  ])('%j on %j: %s', (expected, actual, outcome) => {
    expect(holds('Bool', expected, actual)).toEqual(both(outcome));
  });

  it.each(['yes', '1', '', ' true'])('on "%s" of a request never allows, and denies', (actual) => {
    expect(holds('Bool', 'true', actual)).toEqual({ allow: false, deny: true });
  });

  it.each(['yes', '', 1, '${aws:SecureTransport}'])('refuses the value %j', (value) => {
    expect(() => holds('Bool', value, 'true')).toThrow(/must be "true" or "false"|policy variable/);
  });
});

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_BinaryEquals */
describe('BinaryEquals', () => {
  it.each<[unknown, Actual, boolean]>([
    ['QmluYXJ5VmFsdWVJbkJhc2U2NA==', 'BinaryValueInBase64', true],
    ['QmluYXJ5VmFsdWVJbkJhc2U2NA==', 'binaryvalueinbase64', false],
    ['QmluYXJ5VmFsdWVJbkJhc2U2NA==', 'QmluYXJ5VmFsdWVJbkJhc2U2NA==', false],
    ['', '', true],
    ['', 'a', false],
    ['w7w=', 'ü', true],
    [['YQ==', 'Yg=='], 'b', true],
    ['YQ==', undefined, false],
  ])('%j on %j: %s', (expected, actual, outcome) => {
    expect(holds('BinaryEquals', expected, actual)).toEqual(both(outcome));
  });

  it.each(['YQ', 'not base64', 'YQ=', '____', '${aws:username}'])('refuses the value "%s"', (value) => {
    expect(() => holds('BinaryEquals', value, 'a')).toThrow(expect.objectContaining({ code: 'MalformedPolicy' }));
  });
});

/** @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html#Conditions_Null */
describe('Null', () => {
  it.each<[unknown, Actual, boolean]>([
    ['true', undefined, true],
    ['true', [], true],
    ['true', 'a', false],
    ['false', 'a', true],
    ['false', undefined, false],
    ['false', [], false],
    [true, undefined, true],
    [false, 'a', true],
    ['TRUE', undefined, true],
    ['False', 'a', true],
    // A text that is empty is there: `?prefix=` is a prefix.
    ['false', '', true],
    ['true', '', false],
    ['false', ['a', 'b'], true],
    [['true', 'false'], undefined, true],
    [['true', 'false'], 'a', true],
  ])('%j on %j: %s', (expected, actual, outcome) => {
    expect(holds('Null', expected, actual)).toEqual(both(outcome));
  });

  it.each(['yes', '', 0, '${aws:username}'])('refuses the value %j', (value) => {
    expect(() => holds('Null', value, 'a')).toThrow(/must be "true" or "false"/);
  });

  it.each(['NullIfExists', 'ForAnyValue:Null', 'ForAllValues:Null'])('is no operator as %s', (operator) => {
    expect(() => holds(operator, 'true', 'a')).toThrow(/is no condition operator/);
  });
});
