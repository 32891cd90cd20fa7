import type { Setting, SettingType } from './setting.ts';
import { serverRow } from './server-rows.ts';

const text: SettingType = { kind: 'text' };
const path: SettingType = { kind: 'path' };

type Row = readonly [part: string, type: SettingType, help: string, more?: Partial<Setting>];

const secret: Partial<Setting> = { secret: true };
const own: Partial<Setting> = { aliases: [] };

/** The settings of each type of target, besides those that all types have. */
const types: Readonly<Record<string, readonly Row[]>> = {
  WEBHOOK: [
    ['ENDPOINT', { kind: 'url' }, 'Address that events are posted to, as JSON.'],
    [
      'AUTH_TOKEN',
      text,
      'Sent as the header Authorization: one word as a Bearer token, two words as they are.',
      secret,
    ],
    ['CLIENT_CERT', path, 'Client certificate (PEM) that is presented there.'],
    ['CLIENT_KEY', path, 'Its private key (PEM).'],
    ['CA_FILE', path, 'CA certificates (PEM) trusted for that address besides those of the system.', own],
    ['HTTP_TIMEOUT', { kind: 'duration' }, 'Time that the address has to answer.', { default: '5s' }],
  ],
};

/** Settings that every target must have. */
export const requiredOfTarget: Readonly<Record<string, readonly string[]>> = {
  webhook: ['ENDPOINT'],
};

/** Returns the beginning of the names of a type's settings. */
export function notifyPrefix(type: string): string {
  return `SVC_NOTIFY_${type.toUpperCase()}_`;
}

/** The types of notification targets, as ARNs name them. */
export const notifyTypes: readonly string[] = Object.keys(types).map((type) => type.toLowerCase());

/** The settings of notifications. */
export const notifyRows: readonly Setting[] = [
  serverRow(
    'SVC_NOTIFY_QUEUE_BYTES',
    { kind: 'size' },
    'Bytes of the events that wait for one target at most. The size is measured about once a second.',
    { default: '1GiB', aliases: [] },
  ),
  serverRow(
    'SVC_NOTIFY_QUEUE_FULL',
    { kind: 'choice', of: ['drop', 'park'] },
    'When the queue of a target is full: drop the events that find it full, or park it: drop all events until it is empty, so that there is one gap. Both count what is dropped.',
    { default: 'drop', aliases: [] },
  ),
  ...Object.entries(types).flatMap(([type, rows]) =>
    [
      ['ENABLE', { kind: 'on-off' }, 'Whether the target is used.', { default: 'on' }] as const,
      ...rows,
      [
        'QUEUE_LIMIT',
        { kind: 'integer', min: 1, max: 10_000_000 },
        'Events that wait for the target at most.',
        { default: '100000' },
      ] as const,
    ].map(([part, kind, help, more]) =>
      serverRow(`${notifyPrefix(type)}${part}`, kind, help, { scope: 'per-target', ...more }),
    ),
  ),
];
