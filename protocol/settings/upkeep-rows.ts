import { serverRow as server } from './server-row.ts';
import type { Setting } from './setting.ts';

/** What the server does for its stores by itself. */
export const upkeepRows: readonly Setting[] = [
  server(
    'SVC_STORAGE_RESERVE',
    { kind: 'size', percent: true },
    'Free space below which writes are refused; deletes always work.',
    { default: '1%' },
  ),
  server(
    'SVC_SCRUB_RATE',
    { kind: 'size' },
    'Bytes per second that are read in the background to find damaged objects before anybody asks for them, of all servers together; 0 turns that off.',
    { default: '10MiB', aliases: [] },
  ),
  server(
    'SVC_SCANNER_CYCLE',
    { kind: 'duration' },
    'Rest between two counts of objects and bytes by bucket, by all servers together; at least nine times what the last count took. 0s: they are counted only when somebody asks.',
    { default: '1m' },
  ),
  server(
    'SVC_SCANNER_SPEED',
    { kind: 'choice', of: ['fastest', 'fast', 'default', 'slow', 'slowest'] },
    'Records that such a count reads per second: as many as it can, 100,000, 20,000, 5,000 or 1,000.',
    { default: 'default' },
  ),
];
