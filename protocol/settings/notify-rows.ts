import type { Setting, SettingType } from './setting.ts';
import { serverRow } from './server-rows.ts';

const text: SettingType = { kind: 'text' };
const path: SettingType = { kind: 'path' };

type Row = readonly [part: string, type: SettingType, help: string, more?: Partial<Setting>];

const secret: Partial<Setting> = { secret: true };
const own: Partial<Setting> = { aliases: [] };

const onOff: SettingType = { kind: 'on-off' };
const format: Row = [
  'FORMAT',
  { kind: 'choice', of: ['namespace', 'access'] },
  'namespace keeps the last event of each object, access all events.',
  { default: 'namespace' },
];
const topic: SettingType = { kind: 'text', pattern: /^[^\s#+*>]+$/, expects: 'a name without wildcards' };

const brokers: SettingType = {
  kind: 'text',
  pattern: /^\s*(?:\[[\da-fA-F:.]+\]|[^\s,/:]+):\d{1,5}(?:\s*,\s*(?:\[[\da-fA-F:.]+\]|[^\s,/:]+):\d{1,5})*\s*$/,
  expects: 'HOST:PORT, separated by commas',
};

/** The settings of each type of target, besides those that all types have. The names are those of MinIO's variables. */
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
    ['HTTP_TIMEOUT', { kind: 'duration', min: '1ms' }, 'Time that the address has to answer.', { default: '5s' }],
  ],
  NATS: [
    ['ADDRESS', text, 'HOST:PORT of NATS.'],
    ['SUBJECT', topic, 'Subject that events are published on.'],
    [
      'JETSTREAM',
      onOff,
      'Whether a stream must take each event. Without it NATS keeps none for absent subscribers.',
      { default: 'off' },
    ],
    ['USERNAME', text, 'User.'],
    ['PASSWORD', text, 'Password.', secret],
    ['TOKEN', text, 'Token in place of user and password.', secret],
    ['NKEY_SEED', path, 'File with the seed of an NKey.'],
    ['USER_CREDENTIALS', path, 'File with a JWT and its NKey.'],
    ['TLS', onOff, 'Whether the connection must be encrypted.', { default: 'off' }],
    ['TLS_HANDSHAKE_FIRST', onOff, 'Whether TLS begins before NATS says anything.', { default: 'off' }],
    ['CERT_AUTHORITY', path, 'CA certificates (PEM) trusted in place of those of the system.'],
    ['CLIENT_CERT', path, 'Client certificate (PEM).'],
    ['CLIENT_KEY', path, 'Its private key (PEM).'],
  ],
  REDIS: [
    ['ADDRESS', text, 'HOST:PORT of Redis.'],
    ['KEY', text, 'Key of the hash (namespace) or of the list (access).'],
    format,
    ['USER', text, 'User.'],
    ['PASSWORD', text, 'Password.', secret],
    ['TLS', onOff, 'Whether the connection is encrypted.', { default: 'off', ...own }],
    ['CA_FILE', path, 'CA certificates (PEM) trusted in place of those of the system.', own],
  ],
  MQTT: [
    [
      'BROKER',
      {
        kind: 'text',
        pattern: /^(?:tcp|ssl|tls|mqtts?|wss?):\/\/[^\s/]/,
        expects: 'tcp://HOST:PORT, ssl://HOST:PORT, ws://HOST:PORT/PATH or wss://HOST:PORT/PATH',
      },
      'Address of the broker: tcp://HOST:PORT, ssl://HOST:PORT, ws:// or wss://.',
    ],
    ['TOPIC', topic, 'Topic that events are published on.'],
    ['QOS', { kind: 'integer', min: 0, max: 2 }, 'Quality of service. With 0 events may be lost.', { default: '1' }],
    ['USERNAME', text, 'User.'],
    ['PASSWORD', text, 'Password.', secret],
    ['CA_FILE', path, 'CA certificates (PEM) trusted in place of those of the system.', own],
  ],
  POSTGRES: [
    [
      'CONNECTION_STRING',
      {
        kind: 'text',
        pattern: /^postgres(?:ql)?:\/\/.|^\s*\w+\s*=/,
        expects: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE, or host=… port=… user=… password=… dbname=…',
      },
      'postgres://USER:PASSWORD@HOST:PORT/DATABASE, or host=… port=… user=… password=… dbname=….',
      secret,
    ],
    ['TABLE', text, 'Table, which is created where it is missing.'],
    format,
    [
      'CA_FILE',
      path,
      'CA certificates (PEM) trusted in place of those of the system. With it the connection is encrypted.',
      own,
    ],
  ],
  MYSQL: [
    [
      'DSN_STRING',
      {
        kind: 'text',
        pattern: /^(?:mysql:\/\/.+|(?:.*@)?tcp\([^()]+\)\/[^/?]+)(?:\?tls=(?:true|false))?$/,
        expects: 'USER:PASSWORD@tcp(HOST:PORT)/DATABASE, with no parameter but tls=true',
      },
      'USER:PASSWORD@tcp(HOST:PORT)/DATABASE, or mysql://USER:PASSWORD@HOST:PORT/DATABASE; ?tls=true encrypts the connection.',
      secret,
    ],
    ['TABLE', text, 'Table, which is created where it is missing.'],
    format,
    ['CA_FILE', path, 'CA certificates (PEM) trusted in place of those of the system.', own],
  ],
  AMQP: [
    [
      'URL',
      { kind: 'text', pattern: /^amqps?:\/\/./, expects: 'amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps://' },
      'amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps:// for TLS.',
      secret,
    ],
    ['EXCHANGE', text, 'Exchange, which is declared. Without it events go to the queue that ROUTING_KEY names.'],
    [
      'EXCHANGE_TYPE',
      { kind: 'choice', of: ['direct', 'fanout', 'topic', 'headers'] },
      'Type of the exchange.',
      { default: 'direct' },
    ],
    ['ROUTING_KEY', text, 'Routing key of the events.'],
    [
      'DELIVERY_MODE',
      { kind: 'integer', min: 0, max: 2 },
      '1 keeps messages in memory; 0 and 2 keep them through a restart of the broker.',
      { default: '2' },
    ],
    [
      'PUBLISHING_CONFIRMS',
      { kind: 'choice', of: ['on'] },
      'Whether the broker confirms each event. It always does, or an event could be lost.',
      { default: 'on' },
    ],
    [
      'MANDATORY',
      onOff,
      'Whether a queue must take each event. Without it the broker drops what has no queue.',
      { default: 'off' },
    ],
    ['DURABLE', onOff, 'Whether the exchange is kept through a restart of the broker.', { default: 'off' }],
    ['INTERNAL', onOff, 'Whether the exchange takes messages of other exchanges alone.', { default: 'off' }],
    ['AUTO_DELETED', onOff, 'Whether the exchange goes with its last queue.', { default: 'off' }],
    ['CA_FILE', path, 'CA certificates (PEM) trusted in place of those of the system.', own],
    ['CLIENT_CERT', path, 'Client certificate (PEM).', own],
    ['CLIENT_KEY', path, 'Its private key (PEM).', own],
  ],
  KAFKA: [
    ['BROKERS', brokers, 'HOST:PORT of brokers, separated by commas.'],
    ['TOPIC', topic, 'Topic that events are produced to.'],
    ['SASL', onOff, 'Whether the server authenticates.', { default: 'off' }],
    [
      'SASL_MECHANISM',
      { kind: 'choice', of: ['plain', 'sha256', 'sha512'] },
      'How it authenticates: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.',
      { default: 'plain' },
    ],
    ['SASL_USERNAME', text, 'User.'],
    ['SASL_PASSWORD', text, 'Password.', secret],
    ['TLS', onOff, 'Whether connections are encrypted.', { default: 'off' }],
    ['CLIENT_TLS_CERT', path, 'Client certificate (PEM).'],
    ['CLIENT_TLS_KEY', path, 'Its private key (PEM).'],
    ['CA_FILE', path, 'CA certificates (PEM) trusted in place of those of the system.', own],
  ],
  ELASTICSEARCH: [
    ['URL', { kind: 'url' }, 'Address of Elasticsearch (from version 7 on) or OpenSearch.'],
    [
      'INDEX',
      {
        kind: 'text',
        pattern: /^[^\s/\\*?"<>|,#A-Z_+.-][^\s/\\*?"<>|,#A-Z]*$/,
        expects: 'the name of an index, in lower case',
      },
      'Index, which is created where it is missing.',
    ],
    format,
    ['USERNAME', text, 'User.'],
    ['PASSWORD', text, 'Password.', secret],
    ['CA_FILE', path, 'CA certificates (PEM) trusted for that address besides those of the system.', own],
  ],
};

/** Settings that every target must have. */
export const requiredOfTarget: Readonly<Record<string, readonly string[]>> = {
  webhook: ['ENDPOINT'],
  nats: ['ADDRESS', 'SUBJECT'],
  redis: ['ADDRESS', 'KEY'],
  mqtt: ['BROKER', 'TOPIC'],
  postgresql: ['CONNECTION_STRING', 'TABLE'],
  mysql: ['DSN_STRING', 'TABLE'],
  amqp: ['URL'],
  kafka: ['BROKERS', 'TOPIC'],
  elasticsearch: ['URL', 'INDEX'],
};

const certificate = ['CLIENT_CERT', 'CLIENT_KEY'] as const;

/** Settings of which a target has both or neither. */
export const togetherOfTarget: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  webhook: [certificate],
  nats: [certificate],
  amqp: [certificate],
  kafka: [
    ['CLIENT_TLS_CERT', 'CLIENT_TLS_KEY'],
    ['SASL_USERNAME', 'SASL_PASSWORD'],
  ],
  elasticsearch: [['USERNAME', 'PASSWORD']],
};

/** Returns the beginning of the names of a type's settings. */
export function notifyPrefix(type: string): string {
  // As MinIO names them: the ARN ends with postgresql.
  return `SVC_NOTIFY_${type === 'postgresql' ? 'POSTGRES' : type.toUpperCase()}_`;
}

/** The types of notification targets, as ARNs name them. */
export const notifyTypes: readonly string[] = Object.keys(types).map((type) =>
  type === 'POSTGRES' ? 'postgresql' : type.toLowerCase(),
);

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
      serverRow(`SVC_NOTIFY_${type}_${part}`, kind, help, { scope: 'per-target', ...more }),
    ),
  ),
];
