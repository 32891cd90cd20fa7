import { createServer } from 'node:net';
import { listen, ListenError } from '../../platform/listen.ts';
import type { Port } from '../workload.ts';

/** Why the ports cannot be had now, naming the port and the field to change; undefined when they are free. */
export async function portProblem(ports: readonly Port[]): Promise<string | undefined> {
  for (const port of ports) {
    const server = createServer();
    try {
      await listen(server, { host: port.host, port: port.port }, { setting: port.field });
    } catch (error) {
      if (error instanceof ListenError) return error.message;
      throw error;
    } finally {
      server.close();
    }
  }
  return undefined;
}
