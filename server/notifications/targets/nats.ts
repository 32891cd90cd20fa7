import { jetstream, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import { connect, credsAuthenticator, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { readFile } from 'node:fs/promises';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { connectedTarget } from '../connected-target.ts';
import { isOn, type NotificationTarget, type TargetValues, textOf } from '../target.ts';

interface NatsClient {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient | undefined;
  /** What the broker refused on this connection. It tells beside the answers of the calls. */
  readonly refused: Error[];
  /** Ends the waits of this connection: the client library forgets them when it is closed. */
  readonly waits: Set<(error: Error) => void>;
}

/** The code of JetStream for a message that is larger than its stream takes. */
const messageTooLarge = 10_054;

/** Publishes each event on a subject, of NATS or of a stream of JetStream. */
export function openNats(values: TargetValues): NotificationTarget {
  const subject = textOf(values, 'subject') ?? '';
  return connectedTarget<NatsClient>({
    async connect() {
      const connection = await connect(await connectionOptions(values));
      const refused: Error[] = [];
      void collectRefusals(connection, refused);
      const waits = new Set<(error: Error) => void>();
      void endWaits(connection, waits, refused);
      return { connection, stream: isOn(values, 'jetstream') ? jetstream(connection) : undefined, refused, waits };
    },
    async send({ connection, stream, refused, waits }, { body }) {
      const max = connection.info?.max_payload;
      if (max !== undefined && Buffer.byteLength(body) > max)
        throw new DeliveryError('rejected', `the event is larger than the ${max} bytes that the broker takes`);
      try {
        if (stream === undefined) {
          connection.publish(subject, body);
          // The answer to the ping of a flush follows what was published, and what the broker says of it.
          await untilClosed(connection.flush(), waits);
          await endOfTurn();
        } else await stream.publish(subject, body);
      } catch (error) {
        throw refusalOf(error) ?? refused[0] ?? error;
      }
      // All events have one subject, so that a refusal is one of this event too.
      const [refusal] = refused;
      if (refusal !== undefined) throw refusal;
    },
    close: ({ connection }) => connection.close(),
  });
}

async function endWaits(connection: NatsConnection, waits: NatsClient['waits'], refused: Error[]): Promise<void> {
  const error = (await connection.closed()) ?? refused[0] ?? new Error('the connection was closed');
  for (const end of waits) end(error);
}

/** Rejects where the connection is closed first. */
async function untilClosed(answer: Promise<void>, waits: NatsClient['waits']): Promise<void> {
  const { promise: closed, reject } = Promise.withResolvers<never>();
  waits.add(reject);
  try {
    await Promise.race([answer, closed]);
  } finally {
    waits.delete(reject);
  }
}

/** Ends with the connection. */
async function collectRefusals(connection: NatsConnection, refused: Error[]): Promise<void> {
  for await (const status of connection.status()) if (status.type === 'error') refused.push(status.error);
}

/** Returns the refusal of one event by a stream of JetStream. */
function refusalOf(error: unknown): DeliveryError | undefined {
  const isTooLarge = error instanceof JetStreamApiError && error.code === messageTooLarge;
  return isTooLarge ? new DeliveryError('rejected', error.message, { cause: error }) : undefined;
}

async function connectionOptions(values: TargetValues): Promise<Parameters<typeof connect>[0]> {
  const [user, pass, token, seed, creds] = ['username', 'password', 'token', 'nkey_seed', 'user_credentials'].map(
    (name) => textOf(values, name),
  );
  const [caFile, certFile, keyFile] = ['cert_authority', 'client_cert', 'client_key'].map((name) =>
    textOf(values, name),
  );
  const hasTls = isOn(values, 'tls') || caFile !== undefined || certFile !== undefined;
  const authenticator =
    seed !== undefined
      ? nkeyAuthenticator(await readFile(seed))
      : creds !== undefined
        ? credsAuthenticator(await readFile(creds))
        : undefined;
  return {
    servers: textOf(values, 'address') ?? '',
    timeout: 5_000,
    // The queue tries again.
    reconnect: false,
    ...(user !== undefined && { user }),
    ...(pass !== undefined && { pass }),
    ...(token !== undefined && { token }),
    ...(authenticator && { authenticator }),
    ...(hasTls && {
      tls: {
        ca: await textIn(caFile),
        cert: await textIn(certFile),
        key: await textIn(keyFile),
        handshakeFirst: isOn(values, 'tls_handshake_first'),
      },
    }),
  };
}

async function textIn(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : readFile(path, 'utf8');
}
