import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { readFile } from 'node:fs/promises';
import { connectedTarget } from '../connected-target.ts';
import type { EventMessage } from '../event-message.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { isOn, type NotificationTarget, numberOf, type TargetValues, textOf } from '../target.ts';

interface AmqpClient {
  readonly connection: ChannelModel;
  readonly channel: ConfirmChannel;
  /** The ids of the messages that no queue took. */
  readonly returned: Set<string>;
}

/**
 * Publishes each event to an exchange of AMQP 0.9.1, which is declared first. The broker confirms each message.
 *
 * @see https://www.rabbitmq.com/docs/confirms
 */
export function openAmqp(values: TargetValues): NotificationTarget {
  const exchange = textOf(values, 'exchange') ?? '';
  let published = 0;
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
        const channel = await connection.createConfirmChannel();
        channel.on('error', () => undefined);
        const returned = new Set<string>();
        channel.on('return', ({ properties }) => returned.add(String(properties.messageId)));
        // The exchange without a name is there always, and cannot be declared.
        if (exchange !== '') {
          await channel.assertExchange(exchange, textOf(values, 'exchange_type') ?? 'direct', {
            durable: isOn(values, 'durable'),
            internal: isOn(values, 'internal'),
            autoDelete: isOn(values, 'auto_deleted'),
          });
        }
        return { connection, channel, returned };
      } catch (error) {
        end();
        throw error;
      } finally {
        givenUp.removeEventListener('abort', end);
      }
    },
    async send({ channel, returned }, message) {
      published += 1;
      const messageId = String(published);
      await confirmed(channel, message, values, messageId);
      // A message that no queue takes is returned before it is confirmed.
      if (returned.delete(messageId))
        throw new DeliveryError('unavailable', 'no queue takes the events of the exchange');
    },
    close: ({ connection }) => connection.close(),
  });
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
