import mqtt, { type MqttClient } from 'mqtt';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../platform/errors/system-error.ts';
import { connectedTarget } from '../connected-target.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { type NotificationTarget, numberOf, type TargetValues, textOf } from '../target.ts';

interface ConnectedMqtt {
  readonly client: MqttClient;
  /** Resolves when the broker has handled what was sent before. */
  readonly roundTrip: () => Promise<void>;
  /** Rejects with the first cause when the connection ends: the client lets publications wait for the next connection. */
  readonly ended: Promise<never>;
}

/** The codes of MQTT 5 for a message that is too large, and for one with a wrong content. */
const codesOfMessage: readonly unknown[] = [0x95, 0x99];
/** The codes of MQTT 3.1.1 and 5 for a version that the broker does not speak. */
const codesOfVersion: readonly unknown[] = [1, 0x84];
/** The message of the client library for a connection that ended before an answer. */
const closedText = "Couldn't connect to server";
/** The largest header of a message beside its topic. */
const headerBytes = 16;

/**
 * Publishes each event on a topic, by MQTT 5, or by MQTT 3.1.1 where the broker speaks no other version. With a quality of service of 1 or 2 the
 * broker acknowledges it. With 0 it has no answer, and the broker answers a ping that follows the event.
 */
export function openMqtt(values: TargetValues): NotificationTarget {
  const topic = textOf(values, 'topic') ?? '';
  const qos = numberOf(values, 'qos') === 2 ? 2 : numberOf(values, 'qos') === 0 ? 0 : 1;
  return connectedTarget<ConnectedMqtt>({
    async connect() {
      const client = await connectByNewest(values);
      return { client, roundTrip: roundTripsOf(client), ended: endOf(client) };
    },
    async send({ client, roundTrip, ended }, { body }) {
      // A client that is not connected keeps messages in memory.
      if (!client.connected) throw new DeliveryError('unavailable', 'the connection was lost');
      const max = client.options.properties?.maximumPacketSize;
      if (max !== undefined && Buffer.byteLength(body) + Buffer.byteLength(topic) + headerBytes > max)
        throw new DeliveryError('rejected', `the event is larger than the ${max} bytes that the broker takes`);
      try {
        await Promise.race([client.publishAsync(topic, body, { qos }), ended]);
        if (qos === 0) await Promise.race([roundTrip(), ended]);
      } catch (error) {
        if (!(error instanceof Error) || !codesOfMessage.includes(codeOf(error))) throw error;
        throw new DeliveryError('rejected', `the broker refused the event: ${messageOf(error)}`, { cause: error });
      }
    },
    close: ({ client }) => client.endAsync(true),
  });
}

/** A broker handles packets in their order, and answers each ping. */
function roundTripsOf(client: MqttClient): () => Promise<void> {
  const waiting: { readonly ping: number; readonly end: () => void }[] = [];
  let [asked, answered] = [0, 0];
  // The client sends pings of its own, too.
  client.on('packetsend', ({ cmd }) => {
    if (cmd === 'pingreq') asked += 1;
  });
  client.on('packetreceive', ({ cmd }) => {
    if (cmd !== 'pingresp') return;
    answered += 1;
    while ((waiting[0]?.ping ?? Infinity) <= answered) waiting.shift()?.end();
  });
  return () => {
    client.sendPing();
    return new Promise((end) => waiting.push({ ping: asked, end }));
  };
}

function endOf(client: MqttClient): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  let cause: string | undefined;
  const end = () => reject(new DeliveryError('unavailable', cause ?? 'the connection was lost'));
  // Without a listener an error would end the process. After an answer that cannot be read the client goes on, and waits for ever.
  client.on('error', (error) => {
    cause ??= messageOf(error);
    end();
  });
  client.on('disconnect', ({ reasonCode = 0 }) => {
    const why = codesOfMessage.includes(reasonCode) ? ', the message is too large for it' : '';
    cause ??= `the broker ended the connection with the code 0x${reasonCode.toString(16)}${why}`;
  });
  client.on('close', end);
  promise.catch(() => undefined);
  return promise;
}

/**
 * Connects by MQTT 5, or by MQTT 3.1.1 where the broker refuses the version. Some brokers refuse it by closing the connection without an answer, which a
 * broker that starts or stops does, too: so they are asked twice.
 */
async function connectByNewest(values: TargetValues): Promise<MqttClient> {
  for (let isClosedBefore = false; ; isClosedBefore = true) {
    try {
      return await connect(values, 5);
    } catch (error) {
      const isClosed = error instanceof Error && error.message === closedText;
      if (codesOfVersion.includes(codeOf(error)) || (isClosed && isClosedBefore)) return connect(values, 4);
      if (!isClosed) throw error;
    }
  }
}

async function connect(values: TargetValues, protocolVersion: 4 | 5): Promise<MqttClient> {
  const caFile = textOf(values, 'ca_file');
  const [username, password] = [textOf(values, 'username'), textOf(values, 'password')];
  return mqtt.connectAsync(
    // MinIO writes tcp and ssl.
    (textOf(values, 'broker') ?? '').replace(/^tcp:/, 'mqtt:').replace(/^(?:ssl|tls):/, 'mqtts:'),
    {
      protocolVersion,
      clean: true,
      connectTimeout: 5_000,
      // The queue tries again.
      reconnectPeriod: 0,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(caFile !== undefined && { ca: await readFile(caFile) }),
    },
    false,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
