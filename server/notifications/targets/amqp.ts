import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { readFile } from 'node:fs/promises';
import { connectedTarget } from '../connected-target.ts';
import type { EventMessage } from '../event-message.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { isOn, type NotificationTarget, numberOf, type TargetValues, textOf } from '../target.ts';

interface AmqpClient {
  readonly connection: ChannelModel;
  /** Undefined after the broker has ended it, as it does for a message that it cannot take. */
  opening: Promise<AmqpChannel> | undefined;
}

interface AmqpChannel {
  readonly channel: ConfirmChannel;
  /** The ids of the messages that no queue took. */
  readonly returned: Set<string>;
  /** Why the broker ended the channel: the failures of its messages only say that it is closed. */
  ended: Error | undefined;
}

/**
 * Publishes each event to an exchange of AMQP 0.9.1, which is declared first. The broker confirms each message.
 *
 * @see https://www.rabbitmq.com/docs/confirms
 */
export function openAmqp(values: TargetValues): NotificationTarget {
  let published = 0;
  /** The size of a message that the broker takes at most, which it says when it has got a larger one. */
  let maxBytes = Infinity;
  return connectedTarget<AmqpClient>({
    async connect(givenUp) {
      const url = textOf(values, 'url') ?? '';
      // The error of a wrong URL would have the password.
      if (!/^amqps?:/.test(url) || !URL.canParse(url))
        throw new DeliveryError('unavailable', 'URL is not amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps://');
      const connection = await connect(url, await socketOptions(values));
      // Without a listener an error would end the process. Publishing rejects with it too.
      connection.on('error', () => undefined);
      const end = () => void connection.close().catch(() => undefined);
      givenUp.addEventListener('abort', end);
      try {
        givenUp.throwIfAborted();
        const client: AmqpClient = { connection, opening: undefined };
        await openChannel(client, values);
        return client;
      } catch (error) {
        end();
        throw error;
      } finally {
        givenUp.removeEventListener('abort', end);
      }
    },
    async send(client, message) {
      const bytes = Buffer.byteLength(message.body);
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      const opened = await (client.opening ?? openChannel(client, values));
      published += 1;
      const messageId = String(published);
      try {
        await confirmed(opened.channel, message, values, messageId);
      } catch (error) {
        const cause = opened.ended ?? error;
        maxBytes = maxBytesIn(cause) ?? maxBytes;
        throw bytes > maxBytes ? tooLarge(maxBytes) : cause;
      }
      // A message that no queue takes is returned before it is confirmed.
      if (opened.returned.delete(messageId))
        throw new DeliveryError('unavailable', 'no queue takes the events of the exchange');
    },
    close: ({ connection }) => connection.close(),
  });
}

function openChannel(client: AmqpClient, values: TargetValues): Promise<AmqpChannel> {
  const opening = declaredChannel(client.connection, values, () => {
    if (client.opening === opening) client.opening = undefined;
  });
  client.opening = opening;
  return opening;
}

async function declaredChannel(
  connection: ChannelModel,
  values: TargetValues,
  onClosed: () => void,
): Promise<AmqpChannel> {
  const channel = await connection.createConfirmChannel();
  const returned = new Set<string>();
  const opened: AmqpChannel = { channel, returned, ended: undefined };
  channel.on('error', (error: Error) => (opened.ended ??= error));
  channel.on('close', onClosed);
  channel.on('return', ({ properties }) => returned.add(String(properties.messageId)));
  const exchange = textOf(values, 'exchange') ?? '';
  // The exchange without a name is there always, and cannot be declared.
  if (exchange !== '') {
    await channel.assertExchange(exchange, textOf(values, 'exchange_type') ?? 'direct', {
      durable: isOn(values, 'durable'),
      internal: isOn(values, 'internal'),
      autoDelete: isOn(values, 'auto_deleted'),
    });
  }
  return opened;
}

/** RabbitMQ ends the channel: `PRECONDITION_FAILED - message size 5000 is larger than configured max size 4096`. */
function maxBytesIn(error: unknown): number | undefined {
  const found =
    error instanceof Error ? /larger than (?:configured )?max size (\d+)/.exec(error.message)?.[1] : undefined;
  return found === undefined ? undefined : Number(found);
}

function tooLarge(maxBytes: number): DeliveryError {
  return new DeliveryError('rejected', `the event is larger than the ${maxBytes} bytes that the broker takes`);
}

function confirmed(
  channel: ConfirmChannel,
  { name, key, body }: EventMessage,
  values: TargetValues,
  messageId: string,
): Promise<void> {
  const options = {
    messageId,
    contentType: 'application/json',
    deliveryMode: numberOf(values, 'delivery_mode') === 1 ? 1 : 2,
    mandatory: isOn(values, 'mandatory'),
    headers: { 'minio-bucket': key.split('/', 1)[0] ?? '', 'minio-event': name },
  };
  return new Promise((resolve, reject) => {
    const exchange = textOf(values, 'exchange') ?? '';
    channel.publish(exchange, textOf(values, 'routing_key') ?? '', Buffer.from(body), options, (error: unknown) => {
      if (error === null || error === undefined) resolve();
      else reject(error instanceof Error ? error : new DeliveryError('unavailable', 'the broker refused the message'));
    });
  });
}

async function socketOptions(values: TargetValues): Promise<object> {
  const [caFile, certFile, keyFile] = ['ca_file', 'client_cert', 'client_key'].map((name) => textOf(values, name));
  return {
    timeout: 5_000,
    ...(caFile !== undefined && { ca: [await readFile(caFile)] }),
    ...(certFile !== undefined && { cert: await readFile(certFile) }),
    ...(keyFile !== undefined && { key: await readFile(keyFile) }),
  };
}
