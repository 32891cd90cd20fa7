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

const coded = (message: string, code: string) => Object.assign(new Error(message), { code });

describe('a database that cannot be reached', () => {
  it.each([
    [new Error('The server does not support SSL connections'), /offers no TLS.*sslmode=disable/],
    [new Error('Connection terminated unexpectedly'), /closed the connection during the sign-in/],
    [coded('read ECONNRESET', 'ECONNRESET'), /closed the connection during the sign-in/],
    [coded('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN'), /SVC_STORE_RECORDS_CA_FILE/],
    [new Error('timeout expired'), /did not answer in time/],
  ])('says why: %s', (error, expected) => {
    expect(unavailable(error, 'PostgreSQL at db:5432/d').message).toMatch(expected);
  });

  it.each([
    ['42501', 'permission denied for schema public', /PostgreSQL 15: alter database NAME owner/],
    ['42501', 'permission denied for table coffer_records', /grant the rights/],
    ['28000', 'no pg_hba.conf entry for host "10.0.0.1", no encryption', /add sslmode=verify-full/],
    ['08P01', 'unsupported startup parameter: options', /leave them out of the address/],
    ['3D000', 'database "x" does not exist', /create it/],
  ])('names the cure of %s: %s', (code, message, expected) => {
    const error = Object.assign(serverError(code), { message });
    expect(unavailable(error, 'here').message).toMatch(expected);
  });
});
