import kafkajs, { type Producer, type SASLOptions } from 'kafkajs';
import { readFile } from 'node:fs/promises';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { connectedTarget } from '../connected-target.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { isOn, type NotificationTarget, type TargetValues, textOf } from '../target.ts';

// The package is CommonJS, whose names Node does not find.
const { Kafka, logLevel, Partitioners } = kafkajs;

/** Produces each event to a topic, with the object as its key, so that one partition has all events of an object in their order. */
export function openKafka(values: TargetValues): NotificationTarget {
  const topic = textOf(values, 'topic') ?? '';
  return connectedTarget<Producer>({
    async connect() {
      const sasl = saslOf(values);
      const kafka = new Kafka({
        clientId: 'coffer',
        brokers: (textOf(values, 'brokers') ?? '').split(',').map((broker) => withoutColons(broker.trim())),
        socketFactory: connectTo,
        connectionTimeout: 5_000,
        authenticationTimeout: 5_000,
        requestTimeout: 8_000,
        // The queue tries again.
        retry: { retries: 0 },
        logLevel: logLevel.NOTHING,
        ssl: await tlsOf(values),
        ...(sasl && { sasl }),
      });
      const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
      try {
        await producer.connect();
      } catch (error) {
        await producer.disconnect().catch(() => undefined);
        throw error;
      }
      return producer;
    },
    async send(producer, { key, body }) {
      // All replicas that are in step have it.
      const sent = producer.send({ topic, acks: -1, timeout: 5_000, messages: [{ key, value: body }] });
      const [taken] = await sent.catch((error: unknown) => {
        throw isTooLarge(error) ? new DeliveryError('rejected', error.message, { cause: error }) : error;
      });
      // The broker names the place of the event in its partition.
      if (taken === undefined || taken.errorCode !== 0 || Number(taken.baseOffset ?? -1) < 0)
        throw new DeliveryError('unavailable', 'the broker did not say that it has the event');
    },
    close: (producer) => producer.disconnect(),
  });
}

/** The end of a name that stands for an address of IPv6, as in paths of Windows. */
const literal = '.ipv6-literal.net';
/** Milliseconds. */
const keepAliveMs = 60_000;

/** The client takes what is before the first colon of a broker for its host. */
function withoutColons(broker: string): string {
  return broker.replace(/^\[(.*)\](?=:\d+$)/, (_, address: string) => `${address.replaceAll(':', '-')}${literal}`);
}

interface SocketOptions {
  readonly host: string;
  readonly port: number;
  readonly ssl: ConnectionOptions;
  readonly onConnect: () => void;
}

function connectTo({ host: named, port, ssl, onConnect }: SocketOptions): Socket {
  const address = named.endsWith(literal) ? named.slice(0, -literal.length).replaceAll('-', ':') : named;
  const host = address.replace(/^\[(.*)\]$/, '$1');
  const socket: Socket = ssl
    ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl }, onConnect)
    : connectPlain({ host, port }, onConnect);
  return socket.setKeepAlive(true, keepAliveMs);
}

function isTooLarge(error: unknown): error is Error {
  const types: readonly unknown[] = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'];
  return error instanceof Error && 'type' in error && types.includes(error.type);
}

function saslOf(values: TargetValues): SASLOptions | undefined {
  if (!isOn(values, 'sasl')) return undefined;
  const account = { username: textOf(values, 'sasl_username') ?? '', password: textOf(values, 'sasl_password') ?? '' };
  const mechanism = textOf(values, 'sasl_mechanism');
  if (mechanism === 'sha256') return { mechanism: 'scram-sha-256', ...account };
  if (mechanism === 'sha512') return { mechanism: 'scram-sha-512', ...account };
  return { mechanism: 'plain', ...account };
}

async function tlsOf(values: TargetValues) {
  if (!isOn(values, 'tls')) return false;
  const [caFile, certFile, keyFile] = ['ca_file', 'client_tls_cert', 'client_tls_key'].map((name) =>
    textOf(values, name),
  );
  return {
    ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }),
    ...(certFile !== undefined && { cert: await readFile(certFile, 'utf8') }),
    ...(keyFile !== undefined && { key: await readFile(keyFile, 'utf8') }),
  };
}
