import { describe, expect, it } from 'vitest';
import { checkReadConditions, checkWriteConditions } from './conditions.ts';
import type { ReadConditions, WriteConditions } from '../object-layer.ts';

const modified = Date.UTC(2026, 0, 1, 12, 0, 0, 500);
const current = { etag: 'abc', modified };
const second = new Date(Date.UTC(2026, 0, 1, 12, 0, 0));
const before = new Date(second.getTime() - 1000);
const later = new Date(second.getTime() + 1000);

function codeOf(run: () => void): string {
  try {
    run();
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('write conditions', () => {
  it.each<[WriteConditions | undefined, typeof current | undefined, string]>([
    [undefined, current, 'ok'],
    [{ ifMatch: ['abc'] }, current, 'ok'],
    [{ ifMatch: ['x', 'abc'] }, current, 'ok'],
    [{ ifMatch: ['*'] }, current, 'ok'],
    [{ ifMatch: ['x'] }, current, 'PreconditionFailed'],
    [{ ifMatch: [] }, current, 'PreconditionFailed'],
    [{ ifMatch: ['abc'] }, undefined, 'NoSuchKey'],
    [{ ifMatch: ['*'] }, undefined, 'NoSuchKey'],
    [{ ifNoneMatch: ['*'] }, current, 'PreconditionFailed'],
    [{ ifNoneMatch: ['*'] }, undefined, 'ok'],
    [{ ifNoneMatch: ['abc'] }, current, 'PreconditionFailed'],
    [{ ifNoneMatch: ['x'] }, current, 'ok'],
    [{ ifMatch: ['abc'], ifNoneMatch: ['abc'] }, current, 'PreconditionFailed'],
  ])('%j over %j: %s', (conditions, there, expected) => {
    expect(codeOf(() => checkWriteConditions(conditions, there))).toBe(expected);
  });
});

describe('read conditions', () => {
  it.each<[ReadConditions | undefined, string]>([
    [undefined, 'ok'],
    [{ ifMatch: ['abc'] }, 'ok'],
    [{ ifMatch: ['x'] }, 'PreconditionFailed'],
    [{ ifNoneMatch: ['abc'] }, 'NotModified'],
    [{ ifNoneMatch: ['*'] }, 'NotModified'],
    [{ ifNoneMatch: ['x'] }, 'ok'],
    [{ ifModifiedSince: before }, 'ok'],
    [{ ifModifiedSince: second }, 'NotModified'],
    [{ ifModifiedSince: later }, 'NotModified'],
    [{ ifUnmodifiedSince: before }, 'PreconditionFailed'],
    [{ ifUnmodifiedSince: second }, 'ok'],
    // If-Match outranks If-Unmodified-Since; If-None-Match outranks If-Modified-Since.
    [{ ifMatch: ['abc'], ifUnmodifiedSince: before }, 'ok'],
    [{ ifMatch: ['x'], ifUnmodifiedSince: later }, 'PreconditionFailed'],
    [{ ifNoneMatch: ['x'], ifModifiedSince: later }, 'ok'],
    [{ ifNoneMatch: ['abc'], ifModifiedSince: before }, 'NotModified'],
    [{ ifMatch: ['x'], ifNoneMatch: ['abc'] }, 'PreconditionFailed'],
  ])('%j: %s', (conditions, expected) => {
    expect(codeOf(() => checkReadConditions(conditions, current))).toBe(expected);
  });
});
