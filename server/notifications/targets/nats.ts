import { jetstream, type JetStreamClient } from '@nats-io/jetstream';
import { connect, credsAuthenticator, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { readFile } from 'node:fs/promises';
import { connectedTarget } from '../connected-target.ts';
import { isOn, type NotificationTarget, type TargetValues, textOf } from '../target.ts';

interface NatsClient {
  readonly connection: NatsConnection;
  readonly stream: JetStreamClient | undefined;
}

/** Publishes each event on a subject, of NATS or of a stream of JetStream. */
export function openNats(values: TargetValues): NotificationTarget {
  const subject = textOf(values, 'subject') ?? '';
  return connectedTarget<NatsClient>({
    async connect() {
      const connection = await connect(await connectionOptions(values));
      return { connection, stream: isOn(values, 'jetstream') ? jetstream(connection) : undefined };
    },
    async send({ connection, stream }, { body }) {
      if (stream !== undefined) {
        await stream.publish(subject, body);
        return;
      }
      connection.publish(subject, body);
      // The answer to the ping of a flush follows what was published.
      await connection.flush();
    },
    close: ({ connection }) => connection.close(),
  });
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
