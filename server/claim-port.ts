import { createServer } from 'node:net';
import { listen } from '../platform/listen.ts';
import type { ListenAddress } from '../platform/listen.ts';

/**
 * Binds the port alone for a moment, which fails while any other program listens on it: threads that share it by `reusePort` would
 * silently share it with another server's threads too. Port 0 becomes the port that was free.
 */
export async function claimPort(address: ListenAddress, setting: string): Promise<ListenAddress> {
  const probe = createServer();
  const { port } = await listen(probe, address, { setting });
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  return { ...address, port };
}
