import { describe, expect, it } from 'vitest';
import { loadSettings } from './load-settings.ts';

const root = { SVC_ROOT_USER: 'root', SVC_ROOT_PASSWORD: 'root-password' };
const read = (env: Readonly<Record<string, string>>) => loadSettings({ env: { ...root, ...env } }).scanner;

describe('the settings of the scanner', () => {
  it('count every minute at 20,000 records a second where nothing is set', () => {
    const limits = { versions: 100, bytes: 2 ** 40, folders: 50_000 };
    expect(read({})).toEqual({ cycleMs: 60_000, recordsPerSecond: 20_000, limits });
  });

  it.each([
    ['fastest', Infinity],
    ['fast', 100_000],
    ['default', 20_000],
    ['slow', 5_000],
    ['slowest', 1_000],
  ])('take %s for %d records a second', (speed, recordsPerSecond) => {
    expect(read({ SVC_SCANNER_SPEED: speed })).toMatchObject({ recordsPerSecond });
  });

  it("are those of MinIO's deployments too", () => {
    const alerts = { MINIO_SCANNER_ALERT_EXCESS_VERSIONS: '7', MINIO_SCANNER_ALERT_EXCESS_FOLDERS: '9' };
    expect(read({ MINIO_SCANNER_CYCLE: '1h', MINIO_SCANNER_SPEED: 'slowest', ...alerts })).toMatchObject({
      cycleMs: 3_600_000,
      recordsPerSecond: 1_000,
      limits: { versions: 7, folders: 9 },
    });
  });

  it('turn counting off by a cycle of 0s', () => {
    expect(read({ SVC_SCANNER_CYCLE: '0s' })).toMatchObject({ cycleMs: 0 });
  });

  it('refuse a speed that there is not, and name those that there are', () => {
    expect(() => read({ SVC_SCANNER_SPEED: 'ludicrous' })).toThrow(/SVC_SCANNER_SPEED.*fastest, fast, default/);
  });
});

const domains = (SVC_DOMAIN: string) => loadSettings({ env: { ...root, SVC_DOMAIN } }).domains;

describe('SVC_DOMAIN', () => {
  it('takes several host names, also with a port', () => {
    expect(domains('s3.example.com, storage:9000')).toEqual(['s3.example.com', 'storage:9000']);
    expect(loadSettings({ env: { ...root, MINIO_DOMAIN: 'a.b' } }).domains).toEqual(['a.b']);
  });

  it.each(['*.example.com', 'https://s3.example.com', 's3..example.com', 's3.example.com/x', '[::1]'])(
    'refuses %s',
    (domain) => {
      expect(() => domains(domain)).toThrow(/SVC_DOMAIN: .* is no host name; write s3\.example\.com/);
    },
  );
});
