import { describe, expect, it } from 'vitest';
import { parseOptions, targets } from './options.ts';

const loadsOf = (...args: string[]) => parseOptions(args).steps.map(({ load }) => load);

describe('the options of the benchmark', () => {
  it('run every load at 1, 32 and 256 connections, and 8 MiB at 4 too', () => {
    const { steps } = parseOptions([]);
    const at = (load: string) => steps.filter((step) => step.load === load).map((step) => step.connections);
    expect(at('put-4KiB')).toEqual([1, 32, 256]);
    expect(at('get-8MiB')).toEqual([1, 4, 32, 256]);
  });

  it('run exactly what has a target in a quick look', () => {
    const { steps, coldStart } = parseOptions(['--quick']);
    expect(steps).toEqual(targets.map(({ load, connections }) => ({ load, connections })));
    expect(coldStart).toBe(0);
  });

  it('leave the listing of versions to buckets with versions', () => {
    expect(loadsOf()).not.toContain('list-versions');
    expect(loadsOf('--versioned')).toContain('list-versions');
    expect(loadsOf('--versioned', '--targets')).toEqual(['put-4KiB', 'get-4KiB', 'list', 'list-versions']);
    expect(parseOptions(['--versioned']).servers).toEqual(['coffer', 'minio']);
  });

  it('replicate a bucket with versions, and leave other servers out', () => {
    expect(parseOptions(['--replication'])).toMatchObject({ replication: true, versioned: true, servers: ['coffer'] });
  });

  it('take a name for the loads of all sizes', () => {
    const { steps } = parseOptions(['--only', 'head', '--connections', '8']);
    expect(steps.map((step) => step.load)).toEqual([
      'head-4KiB',
      'head-64KiB',
      'head-256KiB',
      'head-1MiB',
      'head-8MiB',
    ]);
  });

  it('take the exact name of a load first', () => {
    expect(parseOptions(['--only', 'list', '--connections', '8']).steps).toEqual([{ load: 'list', connections: 8 }]);
  });

  it('take the cold start alone', () => {
    expect(parseOptions(['--only', 'cold-start'])).toMatchObject({ steps: [], coldStart: 1_000_000 });
  });

  it('measure Coffer both ways where encryption is asked for', () => {
    expect(parseOptions(['--encryption', '--servers', 'coffer,minio']).servers).toEqual([
      'coffer',
      'coffer-encrypted',
      'minio',
    ]);
    expect(parseOptions(['--servers', 'minio']).servers).toEqual(['minio']);
  });

  it('measure an earlier Coffer by turns, beside peers that are named', () => {
    expect(parseOptions(['--before', '/before'])).toMatchObject({
      before: '/before',
      servers: ['coffer', 'coffer-before'],
    });
    expect(parseOptions(['--before', '/before', '--servers', 'minio']).servers).toEqual([
      'coffer',
      'coffer-before',
      'minio',
    ]);
  });

  it.each([
    [['--only', 'putt'], 'putt'],
    [['--rounds', '0'], '--rounds'],
    [['--connections', '1,x'], '--connections'],
    [['--servers', 'ceph'], 'ceph'],
    [['--fast'], '--fast'],
  ])('refuse %j and say what is wrong', (args, part) => {
    expect(() => parseOptions(args)).toThrow(part);
  });
});
