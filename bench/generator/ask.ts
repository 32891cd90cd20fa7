import { Connection } from './connection.ts';
import { type Endpoint, RequestSigner, type PlainRequest } from './request-signer.ts';

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

const none = Buffer.alloc(0);

/** Sends one request outside the measured time and returns the whole answer. It sets the length of the body. */
export async function ask(
  endpoint: Endpoint,
  request: Omit<PlainRequest, 'length'>,
  body: Buffer = none,
): Promise<Answer> {
  const head = new RequestSigner(endpoint, new Date()).head({ ...request, length: body.length });
  const connection = await Connection.open(endpoint);
  try {
    return await new Promise<Answer>((resolve, reject) => {
      const chunks: Buffer[] = [];
      connection.parser.onBody = (bytes) => chunks.push(Buffer.from(bytes));
      connection.onFailure = reject;
      connection.onAnswer = () =>
        resolve({ status: connection.parser.status, head: connection.parser.head, body: Buffer.concat(chunks) });
      const lead = Buffer.from(head, 'latin1');
      connection.send(lead, 0, lead.length, body, request.method === 'HEAD', true);
    });
  } finally {
    connection.close();
  }
}

/** Sends a request as `ask` does. A status other than 2xx ends the benchmark. */
export async function askWell(
  endpoint: Endpoint,
  request: Omit<PlainRequest, 'length'>,
  body?: Buffer,
): Promise<Answer> {
  const answer = await ask(endpoint, request, body);
  if (answer.status < 200 || answer.status > 299) {
    throw new Error(
      `${request.method} ${request.path}?${request.query} was answered ${answer.status}: ${answer.body.toString('latin1', 0, 400)}`,
    );
  }
  return answer;
}
