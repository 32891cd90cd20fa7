import { describe, expect, it } from 'vitest';
import { mergedReports } from './merged-reports.ts';

const report = (host: string, reads: number) => ({
  hosts: [host],
  aggregated: { disk: { collected: `at ${host}`, n_disks: 1, iostats: { read_ios: reads } }, scanner: { of: host } },
  by_host: { [host]: { cpu: {} } },
  by_disk: { '/data': { read_ios: reads } },
});

describe('the reports of several servers', () => {
  it('are one with the sums of their counters, and the shared parts of the first', () => {
    const merged = mergedReports(report('a:9000', 2), [report('b:9000', 3)]);
    expect(merged.hosts).toEqual(['a:9000', 'b:9000']);
    expect(merged.aggregated).toEqual({
      disk: { collected: 'at a:9000', n_disks: 2, iostats: { read_ios: 5 } },
      scanner: { of: 'a:9000' },
    });
  });

  it('keep the parts of each server and of each drive', () => {
    const { by_host: hosts, by_disk: disks } = mergedReports(report('a:9000', 2), [report('b:9000', 3)]);
    expect(Object.keys(hosts ?? {})).toEqual(['a:9000', 'b:9000']);
    expect(disks).toEqual({ '/data': { read_ios: 2 }, 'b:9000/data': { read_ios: 3 } });
  });

  it('say why a server is missing', () => {
    const missing = { hosts: [], errors: ['the server b:9000 cannot be asked'] };
    expect(mergedReports(report('a:9000', 2), [missing])).toMatchObject({
      hosts: ['a:9000'],
      errors: ['the server b:9000 cannot be asked'],
    });
  });
});
