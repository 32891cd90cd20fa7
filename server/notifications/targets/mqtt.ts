import mqtt, { type MqttClient } from 'mqtt';
import { readFile } from 'node:fs/promises';
import { connectedTarget } from '../connected-target.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { type NotificationTarget, numberOf, type TargetValues, textOf } from '../target.ts';

/** Publishes each event on a topic, by MQTT 5. With a quality of service of 1 or 2 the broker acknowledges it. */
export function openMqtt(values: TargetValues): NotificationTarget {
  const topic = textOf(values, 'topic') ?? '';
  const qos = numberOf(values, 'qos') === 2 ? 2 : numberOf(values, 'qos') === 0 ? 0 : 1;
  return connectedTarget<MqttClient>({
    async connect() {
      const caFile = textOf(values, 'ca_file');
      const [username, password] = [textOf(values, 'username'), textOf(values, 'password')];
      const client = await mqtt.connectAsync(
        // MinIO writes tcp and ssl.
        (textOf(values, 'broker') ?? '').replace(/^tcp:/, 'mqtt:').replace(/^(?:ssl|tls):/, 'mqtts:'),
        {
          protocolVersion: 5,
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
      // Without a listener an error would end the process. Publishing rejects with it too.
      client.on('error', () => undefined);
      return client;
    },
    async send(client, { body }) {
      // A client that is not connected keeps messages in memory.
      if (!client.connected) throw new DeliveryError('unavailable', 'the connection was lost');
      await client.publishAsync(topic, body, { qos });
    },
    close: (client) => client.endAsync(true),
  });
}
