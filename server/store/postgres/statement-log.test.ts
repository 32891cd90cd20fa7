import { expect, it } from 'vitest';
import { loggedValues } from './statement-log.ts';

it.each([
  [{ statement: 'none', minDuration: '-1', maxLength: '-1' }, undefined],
  [{ statement: 'ddl', minDuration: '-1', maxLength: '-1' }, undefined],
  [{ statement: 'mod', minDuration: '-1', maxLength: '-1' }, 'log_statement=mod'],
  [{ statement: 'all', minDuration: '-1', maxLength: undefined }, 'log_statement=all'],
  [{ statement: 'all', minDuration: '-1', maxLength: '0' }, undefined],
  [{ statement: 'none', minDuration: '250ms', maxLength: '64B' }, 'log_min_duration_statement=250ms'],
])('the values of statements with %j are logged: %s', (settings, expected) => {
  expect(loggedValues(settings)).toBe(expected);
});
