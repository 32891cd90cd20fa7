import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { meaningOf, unavailable } from './errors.ts';

function serverError(code: string, severity = 'ERROR'): DatabaseError {
  const error = new DatabaseError('as the server said it', 0, 'error');
  error.code = code;
  error.severity = severity;
  error.detail = 'Failing row contains (secret)';
  return error;
}

describe('an error of PostgreSQL', () => {
  it.each([
    ['40001', 'again'],
    ['40P01', 'again'],
    ['55P03', 'again'],
    ['22012', 'changed-meanwhile'],
    ['23505', 'id-taken'],
    ['22003', 'out-of-range'],
    ['53100', 'full'],
    ['40003', 'session-ended'],
    ['57014', 'refused'],
    ['25006', 'refused'],
  ])('%s means %s', (code, meaning) => {
    expect(meaningOf(serverError(code))).toBe(meaning);
  });

  it('that ends the session leaves open whether the statement took effect', () => {
    expect(meaningOf(serverError('57P01', 'FATAL'))).toBe('session-ended');
  });

  it('is told without what may quote a record', () => {
    const told = unavailable(serverError('53100'), 'PostgreSQL at db:5432/d');
    expect(told.code).toBe('full');
    expect(told.message).toBe('PostgreSQL at db:5432/d has no space left for records: as the server said it (53100)');
    expect(told.cause).toBeUndefined();
  });
});
