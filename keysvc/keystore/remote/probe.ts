import { KeyStoreError } from '../keystore.ts';
import type { Remote } from './remote.ts';

/** Whether a vault is there: whatever it answers to who shows nothing, but a failure of its own. Errors with a `KeyStoreError`. */
export async function probe(client: {
  readonly endpoint: string;
  readonly name: string;
  readonly remote: Remote;
}): Promise<void> {
  const { endpoint, name, remote } = client;
  const answer = await remote.ask({ method: 'GET', url: endpoint, of: name, once: true });
  if (answer.status >= 500) throw new KeyStoreError('unavailable', `${name} answers ${answer.status}`);
}
