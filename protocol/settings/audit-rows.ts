import { serverRow as server } from './server-row.ts';
import type { Setting, SettingType } from './setting.ts';

/** A setting of a web service that audit entries go to. */
function auditWebhook(part: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return server(`SVC_AUDIT_WEBHOOK_${part}`, type, help, { scope: 'per-target', ...more });
}

/** Where audit entries go. */
export const auditRows: readonly Setting[] = [
  server(
    'SVC_AUDIT_FILE',
    { kind: 'path' },
    'File that audit entries are appended to, one JSON document a line; opened anew on SIGHUP, so that it can be rotated. Without it none is written.',
    { aliases: [] },
  ),
  auditWebhook('ENABLE', { kind: 'on-off' }, 'Whether entries are sent, where ENDPOINT names an address.', {
    default: 'on',
  }),
  auditWebhook('ENDPOINT', { kind: 'url' }, 'Address that audit entries are posted to, as JSON.'),
  auditWebhook(
    'AUTH_TOKEN',
    { kind: 'text' },
    'Sent as the header Authorization, as it stands here, e.g. "Bearer SECRET".',
    {
      secret: true,
    },
  ),
  auditWebhook('CLIENT_CERT', { kind: 'path' }, 'Client certificate (PEM) that is presented there.'),
  auditWebhook('CLIENT_KEY', { kind: 'path' }, 'Its private key (PEM).'),
  auditWebhook(
    'CA_FILE',
    { kind: 'path' },
    'CA certificates (PEM) trusted for that address besides those of the system.',
    { aliases: [] },
  ),
  auditWebhook(
    'BATCH_SIZE',
    { kind: 'integer', min: 1, max: 1_000 },
    'Most entries in one request; those of a batch stand on a line each.',
    { default: '1' },
  ),
  auditWebhook(
    'QUEUE_SIZE',
    { kind: 'integer', min: 1, max: 1_000_000 },
    'Entries that wait at most, in memory or in QUEUE_DIR; what comes beyond them is dropped, counted and logged.',
    { default: '10000' },
  ),
  auditWebhook(
    'QUEUE_DIR',
    { kind: 'path' },
    'Folder where entries wait that are not delivered yet, so that they survive a restart; each target needs its own. In memory without it.',
  ),
  auditWebhook(
    'MAX_RETRY',
    { kind: 'integer', min: 0, max: 1_000 },
    'How often an entry is sent again before it is dropped; 0 for as long as it takes.',
    { default: '0' },
  ),
  auditWebhook('RETRY_INTERVAL', { kind: 'duration' }, 'Time between attempts; it doubles up to a minute.', {
    default: '3s',
  }),
  auditWebhook('HTTP_TIMEOUT', { kind: 'duration' }, 'Time that the address has to answer.', { default: '5s' }),
];
