import { group } from './group.ts';
import type { SettingReader } from './setting-source.ts';

/** How often, and how fast, objects and bytes are counted by bucket. */
export interface ScannerSettings {
  /** Milliseconds between two counts; 0 for counts only when somebody asks. */
  readonly cycleMs: number;
  /** Infinity for as fast as it goes. */
  readonly recordsPerSecond: number;
}

/** By the words that MinIO has for the speed of its scanner. */
const speeds: ReadonlyMap<string | undefined, number> = new Map([
  ['fastest', Infinity],
  ['fast', 100_000],
  ['default', 20_000],
  ['slow', 5_000],
  ['slowest', 1_000],
]);
const ordinary = 20_000;

export function readScannerSettings(reader: SettingReader): ScannerSettings {
  const read = group(reader, 'SVC_SCANNER_');
  return {
    cycleMs: read.number('CYCLE') ?? 60_000,
    recordsPerSecond: speeds.get(read.text('SPEED')) ?? ordinary,
  };
}
