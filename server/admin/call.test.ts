import { describe, expect, it } from 'vitest';
import { isSecondGeneration, listsNamesAlone } from './call.ts';

describe('the age of a client', () => {
  it.each([
    ['MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z', true, true],
    ['MinIO (linux; amd64) madmin-go/1.7.0 mc/RELEASE.2022-11-07T23-47-39Z', true, true],
    ['MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-06-15T15-08-26Z', true, false],
    ['MinIO (linux; amd64) madmin-go/2.0.0', true, false],
    ['MinIO (linux; amd64) madmin-go/3.0.70 mc/RELEASE.2025-03-12T17-29-24Z', false, false],
    ['coffer', false, false],
    [undefined, false, false],
  ])('of %s is told by its user agent', (userAgent, second, names) => {
    expect([isSecondGeneration(userAgent), listsNamesAlone(userAgent)]).toEqual([second, names]);
  });
});
