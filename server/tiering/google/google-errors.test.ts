import { describe, expect, it } from 'vitest';
import { failureOf } from './google-errors.ts';

const none = new Headers();
const document = (reason: string, message: string) =>
  JSON.stringify({ error: { code: 0, message, errors: [{ message, domain: 'global', reason }] } });

describe('an answer of Google', () => {
  it.each([
    [404, 'No such object: cold/a', none, 'absent'],
    [404, document('notFound', 'No such object: cold/a'), none, 'absent'],
    [404, document('notFound', 'The specified bucket does not exist.'), none, 'refused'],
    [403, document('forbidden', 'no storage.objects.get'), none, 'refused'],
    [401, document('authError', 'Invalid Credentials'), none, 'refused'],
    [412, document('conditionNotMet', 'no'), none, 'condition'],
    [416, 'Requested range not satisfiable', new Headers({ 'content-range': 'bytes */7' }), 'range'],
    [410, document('gone', 'The upload is gone.'), none, 'passing'],
    [429, document('rateLimitExceeded', 'slow down'), none, 'passing'],
    [503, document('backendError', 'Backend Error'), none, 'passing'],
  ])('of %i with %s is %s', (status, text, headers, kind) => {
    expect(failureOf(status, text, headers).kind).toBe(kind);
  });
});

describe('an answer of a gateway before Google', () => {
  it.each([302, 400, 401, 403, 404, 405, 408, 410, 412, 413, 416, 421, 425, 429, 500, 502, 503, 504])(
    'says nothing about objects: %i',
    (status) => {
      for (const text of ['<html>No such object</html>', 'not found', '', '{"code":"NotFound"}'])
        expect(failureOf(status, text, none)).toEqual({ kind: 'passing', code: `HTTP ${status}` });
    },
  );
});
