import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { VerifySummary } from '../../maintenance/verify/verify-stores.ts';
import { Report } from '../report.ts';
import { conclude } from './verify.ts';

function concluded(summary: VerifySummary, losses = 0): string {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  conclude(
    new Report({ stdout, stderr, env: {}, signal: AbortSignal.any([]) }, { json: false }),
    '/data',
    summary,
    losses,
  );
  return String(stdout.read());
}

describe('the summary of a verification', () => {
  it('names one of each in the singular', () => {
    const summary = { objects: 1, versions: 1, uploads: 1, blobs: 1, bytes: 1, counted: true, findings: 1 };
    expect(concluded(summary, 1)).toBe(
      '/data: 1 object, 1 noncurrent version or delete marker, 1 upload, 1 blob, 1 B read: 1 finding, ' +
        '1 of them means that data is lost: restore it from a backup\n',
    );
  });

  it('names several in the plural', () => {
    const summary = { objects: 2, versions: 3, uploads: 0, blobs: 4, bytes: 2_048, counted: true, findings: 5 };
    expect(concluded(summary, 2)).toBe(
      '/data: 2 objects, 3 noncurrent versions and delete markers, 0 uploads, 4 blobs, 2.0 KiB read: 5 findings, ' +
        '2 of them mean that data is lost: restore it from a backup\n',
    );
  });

  it('says that nothing is wrong', () => {
    const summary = { objects: 1, versions: 0, uploads: 0, blobs: 0, bytes: 0, counted: true, findings: 0 };
    expect(concluded(summary)).toBe('/data: 1 object, 0 uploads, 0 blobs, 0 B read: nothing is wrong\n');
  });

  it('does not say so where records may be missing without a trace', () => {
    const summary = { objects: 1, versions: 0, uploads: 0, blobs: 0, bytes: 0, counted: false, findings: 0 };
    expect(concluded(summary)).toContain('whether records are missing cannot be told');
    expect(concluded(summary)).not.toContain('nothing is wrong');
    expect(concluded({ ...summary, uncounted: 'CockroachDB has no counts of its records' })).toContain(
      'cannot be told, since CockroachDB has no counts of its records\n',
    );
  });
});
