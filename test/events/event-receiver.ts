import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { freePort } from '../support/process/free-port.ts';

/** A message of a webhook. */
export interface ReceivedEvent {
  readonly EventName?: string;
  readonly Event?: string;
  readonly Key?: string;
  readonly Records?: readonly EventRecord[];
}

export interface EventRecord {
  readonly eventName: string;
  readonly responseElements?: Readonly<Record<string, string>>;
  readonly s3: {
    readonly object: {
      readonly key: string;
      readonly sequencer: string;
      readonly eTag?: string;
      readonly size?: number;
      readonly userMetadata?: Readonly<Record<string, string>>;
    };
  } & Readonly<Record<string, unknown>>;
}

/** A web service that keeps every event it gets, and can be away or refuse. */
export class EventReceiver {
  readonly events: ReceivedEvent[] = [];
  readonly authorizations = new Set<string | undefined>();
  /** The status of the answers. */
  status = 200;
  readonly #port: number;
  #server: Server | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(): Promise<EventReceiver> {
    const receiver = new EventReceiver(await freePort());
    await receiver.start();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/events`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.authorizations.add(request.headers.authorization);
        if (this.status === 200 && request.method === 'POST') {
          this.events.push(JSON.parse(Buffer.concat(chunks).toString()) as ReceivedEvent);
        }
        response.writeHead(this.status).end();
      });
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }

  get records(): readonly EventRecord[] {
    return this.events.flatMap(({ Records = [] }) => Records);
  }
}
